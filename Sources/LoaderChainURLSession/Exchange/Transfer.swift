import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What is known of one transfer: a request on its way, and as much of a response as has arrived.
struct Transfer {
    let request: HTTPRequest
    /// How many redirects led here.
    let redirects: Int
    /// The body's file, if one was written for the transfer.
    var bodyFile: URL?
    var hasBody = false
    var bytesToSend: Int64?

    /// The head of the response.
    var response: HTTPResponse?
    var firstByte: TimerInstant?
    /// Where the redirect leads, if the response is one that is to be followed.
    var next: HTTPRequest?
    /// Where the body goes; nil while there is no head, and once it was refused.
    var sink: (any ResponseSink)?
    /// Whether a challenge for a password was turned down, whereupon the session says that the task was cancelled.
    var refusedChallenge = false

    var bytesSent: Int64 = 0
    var bytesReceived: Int64 = 0
    var bytesToReceive: Int64?
    #if !canImport(FoundationNetworking)
        var platformMetrics: URLSessionTaskMetrics?
    #endif

    init(request: HTTPRequest, redirects: Int) {
        self.request = request
        self.redirects = redirects
    }

    var progress: TransferProgress {
        TransferProgress(
            bytesSent: bytesSent, bytesToSend: bytesToSend, bytesReceived: bytesReceived,
            bytesToReceive: bytesToReceive)
    }
}
