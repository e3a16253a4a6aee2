// Terminal: what the transfers of every terminal are made of: what a request may ask, which redirects are followed, the bodies on their
// way in and out, the state, the deadlines and the progress of a transfer. It may use Task and what lies below it. TLS and Cookies
// are lower.

/// The idle timeout of a request; nil, the default, for the terminal's own.
package enum TimeoutOption: HTTPRequestOption {
    /// The timeout of the terminal, which is a minute unless you change it.
    package static var defaultOptionValue: Duration? { nil }
}

extension HTTPRequest {
    /// How long the request may be idle before it fails; nil for the terminal's own.
    ///
    /// It fails with `HTTPError.Code.timedOut`. Every byte sent or received starts the time again, so that a large body
    /// may take as long as it needs. To limit the whole, see ``deadline``, or the terminal's limit for the
    /// whole. Whichever comes first ends the request.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue }
    }
}

/// What the loader does with a redirect.
public enum RedirectPolicy: HTTPRequestOption {
    /// Follows up to 20 redirects.
    public static var defaultOptionValue: RedirectPolicy { .follow }

    /// How many redirects are followed by default.
    static var usualLimit: Int { 20 }

    /// Follows up to 20 redirects.
    public static var follow: RedirectPolicy { .follow(upTo: usualLimit) }

    /// Follows up to a number of redirects; one more fails with `HTTPError.Code.tooManyRedirects`.
    ///
    /// A redirect from https to http fails with `HTTPError.Code.insecureConnection`.
    case follow(upTo: Int)

    /// Follows none: the redirect is the response.
    case refuse

    /// Asks a closure each time, also about a redirect from https to http, and follows up to 20.
    ///
    /// The closure receives the redirect, and the request that would be sent next, without the credentials that must not
    /// be sent there. It returns the request to send: that one, or another; or nil to make the redirect the response.
    case ask(@Sendable (_ redirect: HTTPResponse, _ next: HTTPRequest) -> HTTPRequest?)
}

extension HTTPRequest {
    /// What the loader does with a redirect; follows it by default, up to 20 times.
    ///
    /// ```swift
    /// request.redirects = .ask { redirect, next in
    ///     next.host == redirect.request.host ? next : nil
    /// }
    /// ```
    public var redirects: RedirectPolicy {
        get { self[option: RedirectPolicy.self] }
        set { self[option: RedirectPolicy.self] = newValue }
    }
}

/// The progress of a transfer, in bytes of the bodies.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes sent so far.
    public var bytesSent: Int64 = 0
    /// The bytes to send; nil if that is not known.
    public var bytesToSend: Int64?
    /// The bytes received so far.
    public var bytesReceived: Int64 = 0
    /// The bytes to receive; nil until the head arrives, and if the server does not announce them.
    public var bytesToReceive: Int64?

    /// Makes a progress, for a test.
    public init(
        bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }

    /// The share of the body that was sent, from 0 to 1; nil if its length is not known.
    public var fractionSent: Double? { Self.fraction(bytesSent, of: bytesToSend) }

    /// The share of the response's body that was received, from 0 to 1; nil if its length is not known.
    public var fractionReceived: Double? { Self.fraction(bytesReceived, of: bytesToReceive) }

    private static func fraction(_ part: Int64, of whole: Int64?) -> Double? {
        whole.map { $0 > 0 ? min(max(0, Double(part) / Double($0)), 1) : 1 }
    }
}

/// The closure that is called with a transfer's progress; nil, the default, for none.
package enum ProgressOption: HTTPRequestOption {
    package static var defaultOptionValue: (@Sendable (TransferProgress) -> Void)? { nil }

    /// Only without a closure, which both attempts would call.
    package static func allowsTwoAttempts(with value: (@Sendable (TransferProgress) -> Void)?) -> Bool { value == nil }
}

extension HTTPRequest {
    /// A closure that is called with the progress of the transfer, in both directions.
    ///
    /// It runs on a queue of its own, never twice at once, and for the last time before the task completes, unless a
    /// deadline ends it, or its body arrives in chunks, with which the progress goes on. A slow closure misses steps in between. A request that is redirected or retried starts again at zero. A `Hedge` does not send a request
    /// with progress twice, unless its `hedging` allows that: then two attempts would report at the same time.
    ///
    /// ```swift
    /// let (updates, continuation) = AsyncStream.makeStream(
    ///     of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
    /// request.onProgress = { continuation.yield($0) }
    /// for await update in updates { print(update.bytesReceived, update.bytesToReceive ?? 0) }
    /// ```
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get { self[option: ProgressOption.self] }
        set { self[option: ProgressOption.self] = newValue }
    }
}
