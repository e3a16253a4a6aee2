import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResultMeaningTests {
    private func meaning(_ code: HTTPError.Code, _ status: HTTPStatus? = nil) -> ResultMeaning {
        let response = status.map { HTTPResponse(request: .sample, status: $0) }
        return ResultMeaning(HTTPResult.failure(HTTPError(code, request: .sample, response: response)))
    }

    @Test func responseCountsAsAnswerWithAnyStatus() {
        for status in [HTTPStatus.ok, .found, .notFound, .serviceUnavailable] {
            #expect(ResultMeaning(.success(HTTPResponse(request: .sample, status: status))) == .answered(status))
        }
    }

    /// What became of the request says more than a response that had begun.
    static let ends: [(HTTPError.Code, ResultMeaning)] = [
        (.cancelled, .stopped), (.resetInProgress, .stopped), (.deadlineExceeded, .outOfTime),
        (.cannotConnect, .unreachable), (.connectionLost, .lost), (.timedOut, .lost),
    ]

    @Test(arguments: ends)
    func errorThatEndedRequestOverridesResponse(_ code: HTTPError.Code, _ expected: ResultMeaning) {
        #expect(meaning(code) == expected)
        #expect(meaning(code, .serviceUnavailable) == expected)
    }

    static let refusals: [(HTTPError.Code, ResultMeaning)] = [
        (.circuitOpen, .heldBack), (.queueFull, .heldBack), (.queueTimedOut, .heldBack), (.rateLimited, .heldBack),
        (.shed, .heldBack), (.invalidRequest, .unsendable),
        (.insecureConnection, .insecure), (.authenticationRequired, .unauthorized),
        (.authenticationFailed, .unauthorized),
        (.invalidResponse, .useless), (.cannotDecodeResponse, .useless), (.responseTooLarge, .notTaken),
        (.cannotStoreResponse, .notTaken), (.tooManyRedirects, .notTaken), (.abandoned, .unknown), (.unknown, .unknown),
        (HTTPError.Code("own"), .unknown),
    ]

    @Test(arguments: refusals)
    func otherErrorsCountByFailureStatusOfResponse(_ code: HTTPError.Code, _ expected: ResultMeaning) {
        #expect(meaning(code) == expected)
        #expect(meaning(code, .ok) == expected)
        #expect(meaning(code, .serviceUnavailable) == .answered(.serviceUnavailable))
    }
}
