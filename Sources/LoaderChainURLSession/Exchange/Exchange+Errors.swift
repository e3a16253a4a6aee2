import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    /// The error of an exchange that was stopped on this side, while it loaded `request`.
    func error(for reason: StopReason, of request: HTTPRequest, response: HTTPResponse?) -> HTTPError {
        let (code, text) = reason.explanation(limitOfTheWhole: "timeoutIntervalForResource")
        return HTTPError(code, request: request, response: response, reason: text, loader: loader)
    }

    /// The error of an exchange that the session ended.
    func error(for error: any Error) -> HTTPError {
        var response = transfer.response
        response?.metrics = metrics(until: owner.timers.now, isWhole: false)
        let failure = error as? URLError
        let code = failure.map { HTTPError.Code($0, afterHead: response != nil) } ?? .unknown
        return HTTPError(
            code, request: transfer.request, response: response, underlyingError: error,
            reason: failure.flatMap { reason(of: $0, code) }, loader: loader)
    }

    private func reason(of failure: URLError, _ code: HTTPError.Code) -> String? {
        if transfer.response != nil, code == .connectionLost { return "The body is incomplete" }
        if failure.code == .badURL, transfer.request.host?.contains(":") == true {
            return "URLSession refuses IPv6 addresses on this platform; use a name of the host, or another terminal"
        }
        return code.reason(of: failure)
    }
}
