import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ValidateTests {
    @Test func nothingCheckAcceptsEveryStatus() async throws {
        let chain = Validate(.nothing) --> ScriptedTerminal { _ in .success(500) }
        #expect(try await chain.load(.sample).status == 500)
    }

    @Test func failedRequestCheckIsSeenAboveAndBelow() async {
        let above = Listening(), below = Listening()
        let chain = above --> Validate(.nothing) --> below --> ScriptedTerminal { _ in .success(404, body: "gone") }
        var request = HTTPRequest.sample
        request.responseCheck = .success
        do {
            _ = try await chain.load(request)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .invalidResponse)
            #expect(error.loader == "Validate")
            #expect(error.response?.body == Data("gone".utf8))
            #expect(error.request.responseCheck == .success)
        }
        #expect(above.log.events == ["invalidResponse"])
        #expect(below.log.events == ["invalidResponse"])
    }

    @Test func requestCheckReplacesLoaderCheck() async throws {
        let chain = Validate(.success) --> ScriptedTerminal { _ in .success(404) }
        #expect(await chain.errorCode() == .invalidResponse)
        var request = HTTPRequest.sample
        request.responseCheck = .nothing
        #expect(try await chain.load(request).status == 404)
    }

    @Test func errorPassesUnchanged() async {
        let chain = Validate(.success) --> ScriptedTerminal { _ in .failure(.timedOut) }
        #expect(await chain.errorCode() == .timedOut)
    }

    @Test func checkAppliesIfLoaderBelowDropsOptions() async {
        let chain =
            Validate(.nothing) --> ModifyRequest { HTTPRequest(host: $0.host, path: $0.path) }
            --> ScriptedTerminal { _ in .success(404) }
        var request = HTTPRequest.sample
        request.responseCheck = .success
        #expect(await chain.errorCode(of: request) == .invalidResponse)
    }

    // MARK: Decoding

    @Test(arguments: [true, false])
    func bodyIsDecodedOnce(validates: Bool) async throws {
        let decoder = JSONDecoder()
        let log = EventLog()
        decoder.userInfo[Noting.key] = log
        let chain =
            HTTPLoader() --> (validates ? Validate(.nothing) : nil) --> ScriptedTerminal { _ in .success(body: "[1]") }
        let value = try await chain.load(.sample, as: Noting.self, decoder: decoder)
        #expect(value.numbers == [1])
        #expect(log.events == ["decoded"])
    }

    @Test func undecodableBodyFailsTaskInsideTheChain() async {
        let above = Listening()
        let chain = above --> Validate(.nothing) --> ScriptedTerminal { _ in .success(body: "<html>") }
        do {
            _ = try await chain.load(.sample, as: [Int].self)
            Issue.record("it was decoded")
        } catch {
            #expect(error.code == .cannotDecodeResponse)
            #expect(error.loader == "Validate")
            #expect(error.underlyingError is DecodingError)
            #expect(error.request.decodingCheck == nil)
            #expect(error.response?.request.decodingCheck == nil)
        }
        #expect(above.log.events == ["cannotDecodeResponse"])
    }

    @Test func bodyReplacedAboveIsDecoded() async throws {
        let replacing = ClosureLoader { request, next in
            var response = try await next(request)
            response.body = Data("[2]".utf8)
            return response
        }
        let chain = replacing --> Validate(.nothing) --> ScriptedTerminal { _ in .success(body: "[1]") }
        #expect(try await chain.load(.sample, as: [Int].self) == [2])
    }

    @Test func valueIsDecodedFromReturnedAttempt() async throws {
        let attempts = Locked(0)
        let chain =
            Persistent(attempts: 3) --> Validate(.nothing)
            --> ScriptedTerminal { _ in
                let number = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                return .success(body: "[\(number)]")
            }
        #expect(try await chain.load(.sample, as: [Int].self) == [3])
    }

    @Test(arguments: [true, false])
    func requestCheckDecidesOnStatusAndRunsOnce(validates: Bool) async throws {
        let log = EventLog()
        var request = HTTPRequest.sample
        request.responseCheck = .statuses(404).and(.custom { _ in log.note("checked") })
        let chain =
            HTTPLoader() --> (validates ? Validate(.success) : nil)
            --> ScriptedTerminal { _ in .success(404, body: "[1]") }
        #expect(try await chain.load(request, as: [Int].self) == [1])
        #expect(log.events == ["checked"])
    }

    @Test(arguments: [true, false])
    func decodingWithoutRequestCheckRequiresSuccess(validates: Bool) async {
        let chain =
            HTTPLoader() --> (validates ? Validate(.nothing) : nil)
            --> ScriptedTerminal { _ in .success(404, body: "[1]") }
        do {
            _ = try await chain.load(.sample, as: [Int].self)
            Issue.record("it was decoded")
        } catch {
            #expect(error.code == .invalidResponse)
            #expect(error.loader == (validates ? "Validate" : "HTTPLoader"))
        }
    }

    @Test func sharedExecutionIsDecodedForEachTask() async throws {
        let terminal = ScriptedTerminal()
        let chain = Deduplicate() --> Validate(.nothing) --> terminal
        async let first = chain.load(.sample, as: [Int].self)
        async let second = chain.load(.sample, as: [Int].self)
        let task = await terminal.next()
        // Not before both of them share it.
        try await eventually("both share one execution") { "\(chain)".contains("for 2 tasks") }
        terminal.answer(task, body: "[7]")
        #expect(try await first == [7])
        #expect(try await second == [7])
        #expect(terminal.requests.count == 1)
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { _ in Validate(.nothing) }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func keepsTheContractWithSuccessCheck() async {
        let violations = await ContractCheck(patience: .patient) { _ in Validate(.success) }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}

/// Notes how tasks end.
private final class Listening: HTTPLoader, @unchecked Sendable {
    let log = EventLog()
    override func load(task: HTTPTask) {
        task.addCompletionHandler { [log] in log.note($0.summary) }
        super.load(task: task)
    }
}

/// Notes each time that it is decoded.
private struct Noting: Decodable {
    static let key = CodingUserInfoKey(rawValue: "log").unsafelyUnwrapped
    let numbers: [Int]

    init(from decoder: any Decoder) throws {
        (decoder.userInfo[Self.key] as? EventLog)?.note("decoded")
        numbers = try decoder.singleValueContainer().decode([Int].self)
    }
}
