import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ModifyRequestTests {
    @Test func rewrittenRequestIsPassedOn() async throws {
        let chain =
            ModifyRequest { request in
                var request = request
                request.headers["X-Added"] = "yes"
                return request
            } --> ScriptedTerminal { _ in .success() }
        let response = try await chain.load(.sample)
        #expect(response.request.headers["X-Added"] == "yes")
    }

    @Test func asynchronousInPlaceChangeIsApplied() async throws {
        let chain =
            ModifyRequest { $0.headers["X-First"] = "yes" }
            --> ModifyRequest { request in
                await Task.yield()
                request.headers["X-Second"] = request.headers["X-First"]
            } --> ScriptedTerminal { _ in .success() }
        let response = try await chain.load(.sample)
        #expect(response.request.headers["X-Second"] == "yes")
    }

    @Test func cancelReachesSuspendedChange() async {
        let log = EventLog()
        let terminal = ScriptedTerminal { _ in .success() }
        let chain =
            ModifyRequest { _ in
                log.note("begun")
                // Only the cancel ends this wait.
                await EventLog().waitForEvents(1)
                try Task.checkCancellation()
            } --> terminal
        let task = chain.load(request: .sample) { log.note($0.summary) }
        await log.waitForEvents(1)
        task.cancel()
        await log.waitForEvents(2)
        #expect(log.events == ["begun", "cancelled"] && terminal.requests.isEmpty)
    }

    @Test func thrownErrorFailsTheTask() async {
        struct Mishap: Error {}
        let terminal = ScriptedTerminal { _ in .success() }
        do {
            _ = try await (ModifyRequest { (_: inout HTTPRequest) throws in throw Mishap() } --> terminal).load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .invalidRequest)
            #expect(error.loader == "ModifyRequest")
            #expect(error.underlyingError is Mishap)
        }
        do {
            _ = try await
                (ModifyRequest { (request: inout HTTPRequest) throws in throw HTTPError(.timedOut, request: request) }
                --> terminal).load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .timedOut)
        }
        #expect(terminal.requests.isEmpty)
    }

    /// It says that nobody wants the result any more, and not that the request is wrong.
    @Test func thrownCancellationErrorIsCancel() async {
        let terminal = ScriptedTerminal { _ in .success() }
        let chain = ModifyRequest { (_: inout HTTPRequest) throws in throw CancellationError() } --> terminal
        let error = await chain.result(of: .sample).error
        #expect(error?.code == .cancelled && error?.loader == "ModifyRequest" && terminal.requests.isEmpty)
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { _ in ModifyRequest { $0 } }.run()
        #expect(violations.isEmpty, "\(violations)")
        let waiting = await ContractCheck(patience: .patient) { _ in
            ModifyRequest { (_: inout HTTPRequest) in await Task.yield() }
        }.run()
        #expect(waiting.isEmpty, "\(waiting)")
    }
}
