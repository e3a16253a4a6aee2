// Loaders/Exchange: what the terminals over a transport, such as a URLSession, have in common. A transport makes a transfer for each
// request; an exchange loads a task's request with one transfer after the other, since it follows redirects itself.

import LoaderChainPlatformFoundation

/// What carries the requests of a terminal.
package protocol Transport: Sendable {
    /// How long a stopped transfer may take to end before its exchange ends without it; nil for as long as it needs.
    var patience: Duration? { get }

    /// Whether transfers end on threads on which the user's code may run.
    var endsWhereCodeMayRun: Bool { get }

    /// Why a request must not be sent; nil if it may be.
    func refusal(of request: HTTPRequest) -> TransferFailure?

    /// Whether a body must be written to a file before it can be sent.
    func needsFile(for content: HTTPBodyContent) -> Bool

    /// Sends a request, whose transfer reports to the exchange.
    func send(_ request: EncodedRequest, _ content: HTTPBodyContent, for exchange: Exchange)

    /// Forgets what it keeps for whoever was signed in; a reset calls it when everything in flight has ended.
    func forget()
}

extension Transport {
    package func forget() {}
}

/// A request on its way, and the response to it.
package protocol Transfer: AnyObject, Sendable {
    /// Stops the transfer; it reports its end all the same.
    func cancel()

    /// Adds what it knows about its connection; the head arrived at `firstByte`, and the body has arrived if `isWhole`.
    func measure(_ metrics: inout TransferMetrics, firstByte: TimerInstant?, until end: TimerInstant, isWhole: Bool)
}

/// How a transfer ends that nobody stopped.
package enum TransferEnding {
    case arrived(trailers: HTTPHeaders)
    case failed(TransferFailure)
}

package struct TransferFailure {
    let code: HTTPError.Code
    /// A sentence.
    let reason: String?
    let underlyingError: (any Error)?

    package init(_ code: HTTPError.Code, _ reason: String?, underlyingError: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.underlyingError = underlyingError
    }
}
