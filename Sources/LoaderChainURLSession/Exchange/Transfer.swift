import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request on its way, and as much of its response as has arrived.
struct Transfer {
    let request: HTTPRequest
    /// How many redirects led here.
    let redirects: Int
    /// The queue for calls that may wait for the session that sends the request.
    var control: DispatchQueue?
    /// The temporary file with the body, if one was written for the transfer.
    var bodyFile: URL?
    var hasBody = false
    var bytesToSend: Int64?

    /// The head of the response.
    var response: HTTPResponse?
    /// A head that may be a proxy's answer to CONNECT, until something follows it.
    var heldHead: HTTPResponse?
    var firstByte: TimerInstant?
    /// When the transfer began, and when the session got it.
    let begin: TimerInstant
    var handover: TimerInstant?
    /// The request to send next, if the response is a redirect.
    var next: HTTPRequest?
    /// Where the body goes; nil before the head arrives, and after the body was refused.
    var sink: (any ResponseSink)?
    /// Whether an authentication challenge was refused; the session then reports its task as cancelled.
    var refusedChallenge = false

    var bytesSent: Int64 = 0
    var bytesReceived: Int64 = 0
    var bytesToReceive: Int64?
    #if !canImport(FoundationNetworking)
        var platformMetrics: URLSessionTaskMetrics?
    #endif

    init(request: HTTPRequest, redirects: Int, begin: TimerInstant) {
        self.request = request
        self.redirects = redirects
        self.begin = begin
    }

    var progress: TransferProgress {
        TransferProgress(
            bytesSent: bytesSent, bytesToSend: bytesToSend, bytesReceived: bytesReceived,
            bytesToReceive: bytesToReceive)
    }
}
