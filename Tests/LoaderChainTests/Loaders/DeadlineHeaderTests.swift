import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct DeadlineHeaderTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()

    private func sent(_ request: HTTPRequest, by loader: DeadlineHeader) -> HTTPHeaders {
        (loader --> terminal).load(request: request) { _ in }
        for task in terminal.held { terminal.answer(task) }
        return terminal.requests.last?.headers ?? [:]
    }

    @Test func headerHoldsRemainingTime() {
        var request = HTTPRequest.sample
        request.deadline = .after(.seconds(5), on: timers)
        timers.advance(by: .milliseconds(100))
        #expect(sent(request, by: DeadlineHeader())["grpc-timeout"] == "4900m")
        #expect(sent(request, by: DeadlineHeader("X-Left", as: .milliseconds))["X-Left"] == "4900")
    }

    @Test func existingHeaderIsKeptAndNoneIsAddedWithoutDeadline() {
        #expect(!sent(.sample, by: DeadlineHeader()).contains("grpc-timeout"))
        var request = HTTPRequest.sample
        request.deadline = .after(.seconds(5), on: timers)
        request.headers["grpc-timeout"] = "1S"
        #expect(sent(request, by: DeadlineHeader())["grpc-timeout"] == "1S")
    }

    @Test func eachAttemptSendsItsRemainingTime() {
        let strategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: 3)
        var request = HTTPRequest.sample
        request.deadline = .after(.seconds(5), on: timers)
        (Retry(strategy, timers: timers) --> DeadlineHeader() --> terminal).load(request: request) { _ in }
        for _ in 0..<3 {
            for task in terminal.held { terminal.refuse(task, .connectionLost) }
            timers.advance(by: .seconds(1))
        }
        #expect(terminal.requests.map { $0.headers["grpc-timeout"] } == ["5000m", "4000m", "3000m"])
    }

    @Test(arguments: [
        (Duration.nanoseconds(1), "1u", "1"), (.microseconds(999), "999u", "1"), (.milliseconds(1), "1m", "1"),
        (.milliseconds(99_999_999), "99999999m", "99999999"), (.milliseconds(100_000_000), "100000S", "100000000"),
        (.seconds(99_999_999), "99999999S", "99999999000"), (.seconds(100_000_000), "1666666M", "100000000000"),
        (.seconds(Int64.max), "2562047H", "9223372036854"),
    ])
    func grpcTimeoutHasAtMostEightDigits(_ time: Duration, _ grpc: String, _ milliseconds: String) {
        #expect(DeadlineHeader.Format.grpc.text(time) == grpc)
        #expect(DeadlineHeader.Format.milliseconds.text(time) == milliseconds)
    }
}
