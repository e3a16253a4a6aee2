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
    /// The time of each phase; nil if the terminal does not know.
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

/// Where the time of a transfer went: its phases, one after the other.
///
/// ```swift
/// let response = try await chain.load(request)
/// if let phases = response.metrics?.phases {
///     print(phases.nameLookup ?? .zero, phases.connect ?? .zero, phases.waiting ?? .zero)
/// }
/// ```
///
/// A terminal fills in what it knows. A phase is nil if it did not take place, such as connecting when a connection was open already,
/// or if the terminal does not know. After redirects, the phases are those of the last request.
public struct TransferPhases: Hashable, Sendable {
    // One reference, so that responses and metrics without phases stay small.
    private let times: [Duration?]

    /// Makes phases; omitted ones are unknown or did not take place.
    public init(
        queue: Duration? = nil, nameLookup: Duration? = nil, connect: Duration? = nil,
        secureConnection: Duration? = nil, sending: Duration? = nil, waiting: Duration? = nil,
        receiving: Duration? = nil
    ) {
        times = [queue, nameLookup, connect, secureConnection, sending, waiting, receiving]
    }

    /// The time that the request waited for its transfer to begin, such as for a connection.
    ///
    /// The wait for a turn, as with `requestsPerHost` of a `URLSessionLoader`, comes before, and is measured as that of a queue.
    public var queue: Duration? { times[0] }
    /// The time that it took to find the address of the host.
    public var nameLookup: Duration? { times[1] }
    /// The time that it took to open a connection, without making it secure.
    public var connect: Duration? { times[2] }
    /// The time that it took to make the connection secure.
    public var secureConnection: Duration? { times[3] }
    /// The time that it took to send the request.
    public var sending: Duration? { times[4] }
    /// The time from then until the response began; if sending is not measured separately, this includes it.
    public var waiting: Duration? { times[5] }
    /// The time from the beginning of the response to its end; nil for a response whose body is still arriving.
    public var receiving: Duration? { times[6] }
}

extension TransferPhases {
    /// The phases with their names, in their order.
    package var named: [(name: String, time: Duration?)] {
        [
            ("queue", queue), ("lookup", nameLookup), ("connect", connect), ("tls", secureConnection),
            ("sending", sending), ("server", waiting), ("receiving", receiving),
        ]
    }
}

extension TransferPhases: CustomStringConvertible {
    /// The phases that are known, such as `queue 0.1 ms, server 12.5 ms`.
    public var description: String {
        named.compactMap { name, time in
            time.map { "\(name) \($0.inMilliseconds)" }
        }.joined(separator: ", ")
    }
}

extension Duration {
    /// The duration to a tenth of a millisecond, as in `12.3 ms`.
    var inMilliseconds: String {
        // Nothing lasts for longer than can be counted.
        let tenths = min(max(0, (self / .microseconds(100)).rounded()), 1e15)
        let (whole, tenth) = Int64(tenths).quotientAndRemainder(dividingBy: 10)
        return "\(whole).\(tenth) ms"
    }
}
