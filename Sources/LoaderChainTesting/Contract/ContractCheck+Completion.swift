import Dispatch
import LoaderChain

extension ContractCheck {
    /// The parts about results on their way up.
    static let completionParts = [
        Part(name: "A terminal that answers at once") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            await stage.result(of: stage.load(with: chain))
        },
        Part(name: "A terminal that fails at once") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .failure(.cannotConnect) })
            await stage.result(of: stage.load(with: chain))
        },
        Part(name: "A terminal that answers on another thread") { stage, _ in
            let chain = stage.chain(to: LateTerminal())
            await stage.result(of: stage.load(with: chain))
        },
        Part(name: "A terminal that completes twice") { stage, _ in
            let chain = stage.chain(to: RepeatingTerminal())
            await stage.result(of: stage.load(with: chain))
        },
        Part(name: "A terminal that drops the task") { stage, _ in
            let chain = stage.chain(to: ForgetfulTerminal())
            if let result = await stage.result(of: stage.load(with: chain)) {
                stage.expect(result.error != nil, "an abandoned task succeeded")
            }
        },
        Part(name: "The same request, twice at once") { stage, _ in
            let chain = stage.chain(to: LateTerminal())
            let probes = [stage.load(with: chain), stage.load(with: chain)]
            for probe in probes { await stage.result(of: probe) }
        },
        Part(name: "A handler that loads again") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            let second = stage.probe()
            chain.load(request: stage.request()) { [weak chain] _ in
                chain?.load(request: HTTPRequest(host: "contract.test", path: "/again")) { second.complete($0) }
            }
            await stage.result(of: second, "the task that a handler loaded")
        },
        Part(name: "A request that cannot be sent") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            let probe = stage.probe()
            chain.load(request: HTTPRequest(host: "contract.test", headers: ["Bad": "a\r\nb: c"])) {
                probe.complete($0)
            }
            if let result = await stage.result(of: probe) {
                stage.expect(result.error != nil, "a request with a line break in a header was sent")
            }
        },
    ]
}

/// Responds on another thread.
private final class LateTerminal: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        DispatchQueue.global().async {
            task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
        }
    }
}

/// Responds, and responds again with something else.
private final class RepeatingTerminal: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
        task.complete(.success(HTTPResponse(request: task.request, status: .notFound)))
        fail(task, .timedOut)
    }
}

/// Never responds, and drops its tasks.
private final class ForgetfulTerminal: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {}
}
