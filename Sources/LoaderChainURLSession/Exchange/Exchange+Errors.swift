import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    /// The error of an exchange that was ended from this side.
    func error(for reason: StopReason, response: HTTPResponse?) -> HTTPError {
        switch reason {
        case .cancelled, .readerLeft:
            make(.cancelled, response)
        case .timedOut(let time):
            make(.timedOut, response, "Nothing arrived in time; it was given up after \(time)")
        case .bodyNeededAgain:
            make(.connectionLost, response, "The connection ended, and the body would have had to be sent again")
        case .refused(.tooLarge(let announced, let limit)):
            make(
                .responseTooLarge, response,
                "It has \(announced.map { "\($0)" } ?? "more") bytes where \(limit) are allowed; allow more, or have it "
                    + "delivered into a file or in chunks")
        case .refused(.storage(let reason)):
            make(.cannotStoreResponse, response, reason)
        }
    }

    /// The error of an exchange that the session ended.
    func error(for failure: any Error) -> HTTPError {
        var response = transfer.response
        response?.metrics = metrics(until: host.timers.now)
        guard let failure = failure as? URLError else {
            return make(.unknown, response, nil, failure)
        }
        return make(
            HTTPError.Code(failure, afterHead: response != nil), response,
            isBrokenOff(failure) ? "The body is not complete" : nil, failure)
    }

    private func isBrokenOff(_ failure: URLError) -> Bool {
        transfer.response != nil && HTTPError.Code(failure, afterHead: true) == .connectionLost
    }

    private func make(
        _ code: HTTPError.Code, _ response: HTTPResponse?, _ reason: String? = nil,
        _ underlyingError: (any Error)? = nil
    ) -> HTTPError {
        HTTPError(
            code, request: response?.request ?? request, response: response, underlyingError: underlyingError,
            reason: reason, loader: loader)
    }
}
