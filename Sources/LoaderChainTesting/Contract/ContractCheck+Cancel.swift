import LoaderChain

extension ContractCheck {
    /// The parts about cancelling before, during and after a load.
    static let cancelParts = [
        Part(name: "A task that is cancelled before it is loaded") { stage, _ in
            let terminal = ScriptedTerminal { _ in .success() }
            let chain = ClosureLoader { request, next in try await next(request) } --> stage.chain(to: terminal)
            let probe = stage.probe()
            let waiting = Task { [chain, request = stage.request()] in
                // This ends when the task is cancelled, below.
                while !Task.isCancelled { await Task.yield() }
                probe.complete(await Self.result(of: chain, request))
            }
            waiting.cancel()
            let code = await stage.result(of: probe)?.error?.code
            stage.expect(code == .cancelled, "it completed with \(Self.named(code))")
            stage.expect(terminal.requests.isEmpty, "it reached the loader after")
        },
        Part(name: "A cancel while the task is below") { stage, _ in
            let terminal = ScriptedTerminal()
            let chain = stage.chain(to: terminal)
            let probe = stage.load(with: chain)
            guard let task = await Self.arrival(at: terminal, or: probe) else { return }
            stage.watch(task, "the task below")
            guard await Self.cancel(task, of: probe, on: stage) else {
                await stage.result(of: probe)
                return
            }
            let code = await stage.result(of: probe)?.error?.code
            stage.expect(code == .cancelled, "it completed with \(Self.named(code))")
        },
        Part(name: "A cancel that the transport answers with a response") { stage, _ in
            let terminal = ScriptedTerminal(onCancel: .waits)
            let chain = stage.chain(to: terminal)
            let probe = stage.load(with: chain)
            guard let task = await Self.arrival(at: terminal, or: probe) else { return }
            guard await Self.cancel(task, of: probe, on: stage) else {
                terminal.answer(task)
                await stage.result(of: probe)
                return
            }
            stage.expect(
                stage.check.mayLeaveCancelledTasks || !probe.hasEnded,
                "it completed while the loader after it was still busy"
            )
            terminal.answer(task)
            let code = await stage.result(of: probe)?.error?.code
            stage.expect(code == .cancelled, "it completed with \(Self.named(code))")
        },
        Part(name: "A cancel after the end") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            let probe = stage.load(with: chain)
            let result = await stage.result(of: probe)
            probe.cancel()
            stage.expect(result?.error?.code != .cancelled, "it completed as cancelled before the cancel")
            stage.expect(probe.completions <= 1, "it completed again")
        },
        Part(name: "A cancel from inside a completion handler") { stage, _ in
            let terminal = ScriptedTerminal()
            let chain = stage.chain(to: terminal)
            let other = stage.load("/other", with: chain)
            let first = stage.probe()
            chain.load(request: stage.request()) { result in
                other.cancel()
                first.complete(result)
            }
            // Some loaders pass only one task on at a time.
            await Self.answerAll(at: terminal, until: first)
            other.cancel()
            await stage.result(of: first)
            await stage.result(of: other)
        },
    ]

    /// Cancels the caller's task; returns whether that came before the loader had given up `task` by itself, as a loader with
    /// a deadline may.
    private static func cancel(_ task: HTTPTask, of probe: TaskProbe, on stage: ContractStage) async -> Bool {
        await stage.stopClock()
        defer { stage.startClock() }
        guard !task.isCancelled, !probe.hasEnded else { return false }
        probe.cancel()
        return true
    }

    /// The next task that reaches `terminal`; nil if the loader completed the caller's task without passing one on.
    static func arrival(at terminal: ScriptedTerminal, or probe: TaskProbe) async -> HTTPTask? {
        let wakeAtTheEnd = Task {
            _ = await probe.isOver()
            terminal.wake()
        }
        defer { wakeAtTheEnd.cancel() }
        while true {
            let wakes = terminal.wakes
            if probe.hasEnded { return nil }
            if let task = await terminal.next(orWakeAfter: wakes) { return task }
        }
    }

    private static func result(of chain: HTTPLoader, _ request: HTTPRequest) async -> HTTPResult {
        do throws(HTTPError) { return .success(try await chain.load(request)) } catch { return .failure(error) }
    }

    static func named(_ code: HTTPError.Code?) -> String { code.map { "the error \($0)" } ?? "success" }
}
