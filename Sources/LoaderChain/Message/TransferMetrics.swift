#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the transfer of a response looked like: its times, its bytes and its connection.
///
/// ```swift
/// let response = try await chain.load(request)
/// if let metrics = response.metrics {
///     print(metrics.timeToFirstByte ?? .zero, metrics.duration, metrics.bytesReceived)
/// }
/// ```
///
/// A terminal fills it in. It tells of the last attempt alone, and of all redirects within it.
public struct TransferMetrics: Hashable, Sendable {
    /// When the request was handed to the network.
    public var start: Date
    /// The time from the start until the head of the response was there.
    public var timeToFirstByte: Duration?
    /// The time from the start until the last byte, or until the head for a response whose body is still arriving.
    public var duration: Duration
    /// The bytes of the request's body that were sent.
    public var bytesSent: Int64
    /// The bytes of the response's body, without the coding that they were transferred in.
    public var bytesReceived: Int64
    /// The protocol, such as `http/1.1`; nil where the platform does not tell.
    public var networkProtocol: String?
    /// Whether a connection was used that was open already; nil where the platform does not tell.
    public var reusedConnection: Bool?
    /// How many redirects were followed.
    public var redirects: Int

    /// Makes metrics; what is left out is not known, or none.
    public init(
        start: Date, timeToFirstByte: Duration? = nil, duration: Duration = .zero, bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0, networkProtocol: String? = nil, reusedConnection: Bool? = nil, redirects: Int = 0
    ) {
        self.start = start
        self.timeToFirstByte = timeToFirstByte
        self.duration = duration
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.networkProtocol = networkProtocol
        self.reusedConnection = reusedConnection
        self.redirects = redirects
    }
}
