import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ModifyRequestTests {
    @Test func theRewrittenRequestIsPassedOn() async throws {
        let chain =
            ModifyRequest { request in
                var request = request
                request.headers["X-Added"] = "yes"
                return request
            } --> ScriptedTerminal { _ in .success() }
        let response = try await chain.load(.sample)
        #expect(response.request.headers["X-Added"] == "yes")
    }

    @Test func whatIsThrownEndsTheTask() async {
        struct Mishap: Error {}
        let terminal = ScriptedTerminal { _ in .success() }
        do {
            _ = try await (ModifyRequest { _ in throw Mishap() } --> terminal).load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .invalidRequest)
            #expect(error.loader == "ModifyRequest")
            #expect(error.underlyingError is Mishap)
        }
        do {
            _ = try await (ModifyRequest { throw HTTPError(.timedOut, request: $0) } --> terminal).load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .timedOut)
        }
        #expect(terminal.requests.isEmpty)
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { _ in ModifyRequest { $0 } }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
