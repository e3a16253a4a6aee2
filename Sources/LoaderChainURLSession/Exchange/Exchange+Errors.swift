import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    /// The error of an exchange that was stopped on this side.
    func error(for reason: StopReason, response: HTTPResponse?) -> HTTPError {
        switch reason {
        case .cancelled, .readerLeft:
            make(.cancelled, response)
        case .timedOut(let time):
            make(.timedOut, response, "Nothing was sent or received in time; the request ended after \(time)")
        case .bodyNeededAgain:
            make(.connectionLost, response, "The connection closed, and the session cannot send the body again")
        case .refused(.tooLarge(let announced, let limit)):
            make(
                .responseTooLarge, response,
                "The body has \(announced.map { "\($0)" } ?? "more") bytes, and the limit is \(limit); raise the limit, "
                    + "or have the body delivered in a file or in chunks")
        case .refused(.storage(let reason)):
            make(.cannotStoreResponse, response, reason)
        }
    }

    /// The error of an exchange that the session ended.
    func error(for failure: any Error) -> HTTPError {
        var response = transfer.response
        response?.metrics = metrics(until: owner.timers.now)
        guard let failure = failure as? URLError else {
            return make(.unknown, response, nil, failure)
        }
        return make(
            HTTPError.Code(failure, afterHead: response != nil), response,
            isBrokenOff(failure) ? "The body is incomplete" : nil, failure)
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
