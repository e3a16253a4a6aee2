import LoaderChain

/// How far a transfer has got, in bytes of the bodies.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes sent so far.
    public var bytesSent: Int64 = 0
    /// The bytes to send; nil where that is not known.
    public var bytesToSend: Int64?
    /// The bytes received so far.
    public var bytesReceived: Int64 = 0
    /// The bytes to receive; nil while that is not known, and where the server does not tell.
    public var bytesToReceive: Int64?

    /// Makes a progress, as a test does.
    public init(
        bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}

/// Who hears of a transfer's progress; nil, the default, for nobody.
public enum ProgressOption: HTTPRequestOption {
    /// Nobody.
    public static var defaultOptionValue: (@Sendable (TransferProgress) -> Void)? { nil }
}

extension HTTPRequest {
    /// Who hears how far the transfer has got, in both directions.
    ///
    /// It is called on a queue of the request's own, never twice at once, and for the last time before the task completes.
    /// Whoever is slow misses steps in between. A request that is redirected or tried again begins anew.
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
