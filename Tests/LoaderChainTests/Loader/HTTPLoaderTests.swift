import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPLoaderTests {
    @Test func loadReturnsResponse() async throws {
        let chain = NamedLoader("A") --> ScriptedTerminal { request in .success(.created, body: request.path) }
        let response = try await chain.load(.sample)
        #expect(response.status == .created)
        #expect(String(decoding: response.body, as: UTF8.self) == "/v1/users")
    }

    @Test func completionHandlerIsCalledOnce() {
        let log = EventLog()
        let chain = HTTPLoader() --> ScriptedTerminal { _ in .success() }
        let task = chain.load(request: .sample) { log.note($0.summary) }
        #expect(log.events == ["response"])
        #expect(task.isCompleted)
    }

    @Test func cancelledSwiftTaskCancelsHTTPTask() async {
        let terminal = ScriptedTerminal(onCancel: .waits)
        let chain = HTTPLoader() --> terminal
        let waiting = Task { await chain.errorCode() }
        let task = await terminal.next()
        waiting.cancel()
        let log = EventLog()
        task.addCancelHandler { log.note("asked") }
        await log.waitForEvents(1)
        terminal.answer(task)
        #expect(await waiting.value == .cancelled)
    }

    @Test func cancelledTaskIsNotSent() async {
        let terminal = ScriptedTerminal { _ in .success() }
        let chain = HTTPLoader() --> terminal
        let task = HTTPTask(request: .sample)
        task.cancel()
        chain.load(task: task)
        #expect(task.isCompleted)
        #expect(terminal.requests.isEmpty)
    }

    @Test func completedTaskIsNotPassedOn() {
        let terminal = ScriptedTerminal()
        let task = HTTPTask(request: .sample)
        task.complete(.sample)
        (HTTPLoader() --> terminal).load(task: task)
        #expect(terminal.held.isEmpty)
    }

    @Test func chainWithoutTerminalFailsAndNamesLastLoader() async {
        let chain = NamedLoader("A") --> NamedLoader("B")
        do {
            _ = try await chain.load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .cannotConnect)
            #expect(error.loader == "B")
            #expect(error.reason == "B is last in its chain and not a terminal; link one, such as URLSessionLoader()")
        }
    }

    @Test func abandonedTaskNamesReleasingLoader() async {
        final class Forgetful: HTTPLoader, @unchecked Sendable {
            override func load(task: HTTPTask) {}
        }
        let chain = NamedLoader("A") --> Forgetful()
        do {
            _ = try await chain.load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .abandoned)
            #expect(error.loader == "Forgetful")
            #expect(error.reason?.contains("Forgetful released the task") == true)
        }
    }

    @Test func abandonmentIsReportedWhileCallerHoldsTask() {
        final class Forgetful: HTTPLoader, @unchecked Sendable {
            override func load(task: HTTPTask) {}
        }
        let log = EventLog()
        let task = (HTTPLoader() --> Forgetful()).load(request: .sample) { log.note($0.summary) }
        #expect(log.events == ["abandoned"])
        withExtendedLifetime(task) {}
    }

    @Test func callersHandlersRunAfterHandlersBelow() async {
        let log = EventLog()
        let terminal = ScriptedTerminal()
        let chain = HTTPLoader() --> terminal
        let task = chain.load(request: .sample) { _ in log.note("caller") }
        task.addCompletionHandler { log.note("caller, later") }
        let below = await terminal.next()
        #expect(below.id == task.id)
        below.addCompletionHandler { log.note("below") }
        terminal.answer(below)
        #expect(log.events == ["below", "caller, later", "caller"])
    }

    @Test func loadDecodesRequestedType() async throws {
        struct User: Decodable, Equatable { var name: String }
        let terminal = ScriptedTerminal { _ in .success(.ok, body: #"{"name":"Ada"}"#) }
        let chain = HTTPLoader() --> terminal
        let user = try await chain.load(.sample, as: User.self)
        #expect(user == User(name: "Ada"))
        #expect(terminal.requests.first?.headers["Accept"] == "application/json")
    }

    @Test func decodingFailureKeepsResponse() async {
        let chain = HTTPLoader() --> ScriptedTerminal { _ in .success(.ok, body: "<html>") }
        do {
            _ = try await chain.load(.sample, as: [Int].self)
            Issue.record("it was decoded")
        } catch {
            #expect(error.code == .cannotDecodeResponse)
            #expect(error.response?.body == Data("<html>".utf8))
            #expect(error.underlyingError is DecodingError)
        }
    }

    @Test(
        arguments: [
            (#"{"items":[{"name":"a"},{}]}"#, "items[1].name is missing"),
            (#"{"items":[{"name":null}]}"#, "items[0].name is null, and String is expected"),
            (#"{"items":[{"name":1}]}"#, "items[0].name is not of type String"),
            (#"{"items":[{"name":"a","link":"\u0000 "}]}"#, "items[0].link is not valid"),
            (#"{"items":[],"byUser":{"hunter2@a.com":"b"}}"#, "byUser[…] is not of type Int"),
            (#"{"items":[],"byUser":{"17":"b"}}"#, "byUser[…] is not of type Int"),
            (#"{"items":[],"limits":{"plan":"free"}}"#, "limits.plan is not of type Int"),
            (#"{"items":[],"limits":{"plan":1,"hunter2":"b"}}"#, "limits[…] is not of type Int"),
            (#"{"items":[],"limits":{"plan":1,"17":"b"}}"#, "limits[…] is not of type Int"),
            (#"[]"#, "the whole value is not of type Dictionary<String, Any>"),
            (#"{"items":[{"name":"hunter2""#, "it is not valid JSON"),
        ])
    func decodingFailureNamesFaultWithoutValues(_ body: String, _ fault: String) async {
        struct Page: Decodable {
            struct Item: Decodable {
                var name: String
                var link: Kind?
            }
            enum Kind: String, Decodable { case web }
            var items: [Item]
            var byUser: [String: Int]?
            var limits: Limits?
        }
        /// Has a key that takes its name from the data.
        struct Limits: Decodable {
            enum CodingKeys: CodingKey {
                case plan
                case other(String)

                init(stringValue: String) { self = stringValue == "plan" ? .plan : .other(stringValue) }
                init?(intValue: Int) { nil }
                var stringValue: String {
                    switch self {
                    case .plan: "plan"
                    case .other(let name): name
                    }
                }
                var intValue: Int? { Int(stringValue) }
            }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                for key in [.plan] + container.allKeys { _ = try container.decode(Int.self, forKey: key) }
            }
        }
        let chain = HTTPLoader() --> ScriptedTerminal { _ in .success(.ok, body: body) }
        do {
            _ = try await chain.load(.sample, as: Page.self)
            Issue.record("it was decoded")
        } catch {
            #expect(error.reason == "The body of \(body.utf8.count) bytes cannot be decoded as Page: \(fault)")
            #expect(!error.description.contains("hunter2"))
        }
    }

    @Test func responseWithFailureStatusIsNotDecoded() async {
        let chain = HTTPLoader() --> ScriptedTerminal { _ in .success(.notFound, body: "[1]") }
        do {
            _ = try await chain.load(.sample, as: [Int].self)
            Issue.record("it was decoded")
        } catch {
            #expect(error.code == .invalidResponse)
            #expect(error.response?.status == .notFound)
        }
    }

    @Test func loaderMayRewriteRequest() async throws {
        final class Rewriting: HTTPLoader, @unchecked Sendable {
            override func load(task: HTTPTask) {
                task.request.headers["X-Added"] = "yes"
                super.load(task: task)
            }
        }
        let chain = Rewriting() --> ScriptedTerminal { _ in .success() }
        let response = try await chain.load(.sample)
        #expect(response.request.headers["X-Added"] == "yes")
    }

    @Test func loaderRetainedDuringChainReleaseKeepsNextLoader() throws {
        for _ in 0..<300 {
            let chain = Locked<HTTPLoader?>(HTTPLoader() --> HTTPLoader() --> ScriptedTerminal { _ in .success() })
            let second = WeakLoader(chain.withLock { $0?.nextLoader })
            try onThreads(2) { thread in
                if thread == 0 {
                    _ = chain.withLock { replace(&$0, with: nil) }
                } else if let revived = second.value {
                    revived.load(request: .sample) { #expect($0.summary == "response") }
                }
            }
        }
    }
}

private final class WeakLoader: @unchecked Sendable {
    private(set) weak var value: HTTPLoader?
    init(_ value: HTTPLoader?) { self.value = value }
}
