import LoaderChainTesting
import Testing

@testable import LoaderChain

/// What the end of an attempt is taken for.
@Suite(.timeLimit(.minutes(10))) struct AttemptOutcomeTests {
    @Test func everyStatusHasItsOutcome() {
        for number in 100..<1_000 {
            let status = HTTPStatus(rawValue: number)
            let response = HTTPResponse(request: .sample, status: status)
            let expected: AttemptOutcome =
                switch number {
                case 429, 503, 504: .pushedBack
                case 408, 425: .nothing
                case 200..<500: .served
                default: .nothing
                }
            #expect(outcome(.success(response)) == expected, "\(number)")
            let refused = HTTPError(.invalidResponse, request: .sample, response: response)
            #expect(outcome(.failure(refused)) == expected, "\(number), refused by a loader")
            let cancelled = HTTPError(.cancelled, request: .sample, response: response)
            #expect(outcome(.failure(cancelled)) == .nothing, "\(number), cancelled")
        }
    }

    @Test(arguments: [
        (HTTPError.Code.timedOut, AttemptOutcome.pushedBack), (.connectionLost, .pushedBack), (.cancelled, .givenUp),
        (.deadlineExceeded, .nothing), (.resetInProgress, .nothing), (.cannotConnect, .nothing),
        (.insecureConnection, .nothing), (.invalidRequest, .nothing), (.queueFull, .nothing),
        (.queueTimedOut, .nothing), (.rateLimited, .nothing), (.circuitOpen, .nothing), (.abandoned, .nothing),
        (.unknown, .nothing), (.invalidResponse, .nothing),
    ])
    func everyErrorWithoutResponseHasItsOutcome(code: HTTPError.Code, outcome: AttemptOutcome) {
        #expect(self.outcome(.failure(HTTPError(code, request: .sample))) == outcome)
    }

    @Test func attemptGivenUpAfterHeadCountsAsNothing() {
        let task = HTTPTask(request: .sample)
        let attempt = task.makeAttempt()
        // For example, the deadline ends the task before the terminal sees its cancel.
        let result = HTTPResult.failure(HTTPError(.cancelled, request: .sample))
        #expect(AttemptOutcome(result, of: task) == .givenUp)
        attempt.noteHead()
        #expect(AttemptOutcome(result, of: task) == .nothing && AttemptOutcome(result, of: attempt) == .nothing)
        attempt.complete(result)
        task.complete(result)
    }

    /// A loader may refuse a task for its deadline before that has come.
    @Test func deadlineErrorCountsAsGivenUpOnlyOncePassed() {
        let timers = ManualTimers()
        var request = HTTPRequest.sample
        request.deadline = .after(.seconds(1), on: timers)
        let task = HTTPTask(request: request) { _ in }
        let result = HTTPResult.failure(HTTPError(.deadlineExceeded, request: request))
        #expect(AttemptOutcome(result, of: task) == .nothing)
        timers.advance(by: .seconds(1))
        #expect(AttemptOutcome(result, of: task) == .givenUp)
        task.cancel()
    }

    private func outcome(_ result: HTTPResult) -> AttemptOutcome {
        AttemptOutcome(result, of: HTTPTask(request: .sample) { _ in })
    }
}
