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
}

/// The closure that is called with a transfer's progress; nil, the default, for none.
public enum ProgressOption: HTTPRequestOption {
    /// No closure.
    public static var defaultOptionValue: (@Sendable (TransferProgress) -> Void)? { nil }

    /// Only without a closure, which both attempts would call.
    public static func allowsTwoAttempts(with value: (@Sendable (TransferProgress) -> Void)?) -> Bool { value == nil }
}

extension HTTPRequest {
    /// A closure that is called with the progress of the transfer, in both directions.
    ///
    /// It runs on a queue of its own, never twice at once, and for the last time before the task completes. A slow closure
    /// misses steps in between. A request that is redirected or retried starts again at zero. A `Hedge` does not send a request
    /// with progress twice, unless its `hedging` allows that: then two attempts would report beside each other.
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
