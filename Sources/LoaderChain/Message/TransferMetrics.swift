import LoaderChainPlatformFoundation

/// The measurements of a response's transfer: its times, its bytes and its connection.
///
/// ```swift
/// let response = try await chain.load(request)
/// if let metrics = response.metrics {
///     print(metrics.timeToFirstByte ?? .zero, metrics.duration, metrics.bytesReceived)
/// }
/// ```
///
/// A terminal fills it in. It covers the last attempt only, with all its redirects.
public struct TransferMetrics: Hashable, Sendable {
    /// When the request was given to the network.
    public var start: Date
    /// The time from the start until the head of the response arrived.
    public var timeToFirstByte: Duration?
    /// The time from the start until the last byte, or until the head for a response whose body is still arriving.
    public var duration: Duration
    /// The bytes of the request's body that were sent.
    public var bytesSent: Int64
    /// The bytes of the response's body, after the transfer coding was decoded.
    public var bytesReceived: Int64
    /// The protocol, such as `http/1.1`; nil where the platform does not report it.
    public var networkProtocol: String?
    /// Whether the connection had been open already; nil where the platform does not report it.
    public var reusedConnection: Bool?
    /// Where the time went; nil where the terminal cannot tell.
    public var phases: TransferPhases?
    /// How many redirects were followed.
    public var redirects: Int

    /// Makes metrics; omitted values are unknown or none.
    public init(
        start: Date, timeToFirstByte: Duration? = nil, duration: Duration = .zero, bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0, networkProtocol: String? = nil, reusedConnection: Bool? = nil, redirects: Int = 0,
        phases: TransferPhases? = nil
    ) {
        self.start = start
        self.timeToFirstByte = timeToFirstByte
        self.duration = duration
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.networkProtocol = networkProtocol
        self.reusedConnection = reusedConnection
        self.redirects = redirects
        self.phases = phases
    }
}
