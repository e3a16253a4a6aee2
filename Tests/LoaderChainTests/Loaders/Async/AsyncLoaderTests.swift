import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct AsyncLoaderTests {
    @Test func subclassCanCallNextSeveralTimes() async throws {
        final class Thrice: AsyncLoader, @unchecked Sendable {
            override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                var request = request
                for attempt in 1...2 {
                    request.headers["Attempt"] = "\(attempt)"
                    _ = try await next(request)
                }
                request.headers["Attempt"] = "3"
                return try await next(request)
            }
        }
        let terminal = ScriptedTerminal()
        let chain = Thrice() --> terminal
        async let response = chain.load(.sample)
        var ids: Set<String> = []
        for attempt in 1...3 {
            let task = await terminal.next()
            #expect(task.request.headers["Attempt"] == "\(attempt)")
            ids.insert(task.id.uuidString)
            terminal.answer(task, .ok, body: "\(attempt)")
        }
        #expect(try await response.body.count == 1)
        #expect(ids.count == 3)
    }

    @Test func closureCanRespondWithoutCallingNext() async throws {
        let terminal = ScriptedTerminal { _ in .success() }
        let chain =
            ClosureLoader("cache") { request, _ in HTTPResponse(request: request, status: .notModified) } --> terminal
        #expect(try await chain.load(.sample).status == .notModified)
        #expect(terminal.requests.isEmpty)
        #expect(chain.description == "cache --> ScriptedTerminal(received 0, held 0)")
    }

    @Test func thrownErrorNamesTheLoader() async {
        struct Mishap: Error {}
        let chain = ClosureLoader("signing") { _, _ in throw Mishap() } --> HTTPLoader()
        do {
            _ = try await chain.load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .unknown)
            #expect(error.loader == "signing")
            #expect(error.underlyingError is Mishap)
        }
    }

    /// As of a wait that ends with its Swift task.
    @Test func thrownCancellationErrorIsCancel() async {
        let chain = ClosureLoader("waiting") { _, _ in throw CancellationError() } --> HTTPLoader()
        let error = await chain.result(of: .sample).error
        #expect(error?.code == .cancelled && error?.loader == "waiting")
    }

    @Test func errorFromNextLoaderPassesThrough() async {
        let chain = ClosureLoader { try await $1($0) } --> ScriptedTerminal { _ in .failure(.timedOut) }
        do {
            _ = try await chain.load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .timedOut)
            #expect(error.loader == "ScriptedTerminal")
        }
    }

    @Test func cancelReachesTaskBelow() async {
        let terminal = ScriptedTerminal()
        let chain = ClosureLoader { try await $1($0) } --> terminal
        let log = EventLog()
        let task = chain.load(request: .sample) { log.note($0.summary) }
        let below = await terminal.next()
        task.cancel()
        await log.waitForEvents(1)
        #expect(log.events == ["cancelled"])
        #expect(below.isCancelled)
    }

    @Test func callsToNextCanBeCancelledIndividually() async throws {
        let terminal = ScriptedTerminal()
        let hedging = ClosureLoader("hedging") { request, next in
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                for _ in 0..<2 { group.addTask { try await next(request) } }
                guard let first = try await group.next() else { throw CancellationError() }
                group.cancelAll()
                return first
            }
        }
        let chain = hedging --> terminal
        async let response = chain.load(.sample)
        let first = await terminal.next()
        let second = await terminal.next()
        terminal.answer(second, .ok, body: "second")
        #expect(try await response.body.count == 6)
        #expect(first.isCancelled)
        #expect(!second.isCancelled)
    }
}
