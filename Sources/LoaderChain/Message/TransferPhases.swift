/// Where the time of a transfer went: its phases, one after the other.
///
/// ```swift
/// let response = try await chain.load(request)
/// if let phases = response.metrics?.phases {
///     print(phases.nameLookup ?? .zero, phases.connect ?? .zero, phases.waiting ?? .zero)
/// }
/// ```
///
/// A terminal fills in what it knows. A phase is nil where it did not take place, as those of a connection on one that was open already,
/// and where the terminal cannot tell. After redirects, the phases are those of the last request.
public struct TransferPhases: Hashable, Sendable {
    // One reference, so that responses and metrics without phases stay small.
    private var box: Box

    private final class Box: Sendable {
        let values: Values
        init(_ values: Values) { self.values = values }
    }

    private struct Values: Hashable {
        var queue: Duration?
        var nameLookup: Duration?
        var connect: Duration?
        var secureConnection: Duration?
        var sending: Duration?
        var waiting: Duration?
        var receiving: Duration?
    }

    /// Makes phases; omitted ones are unknown or did not take place.
    public init(
        queue: Duration? = nil, nameLookup: Duration? = nil, connect: Duration? = nil,
        secureConnection: Duration? = nil, sending: Duration? = nil, waiting: Duration? = nil,
        receiving: Duration? = nil
    ) {
        box = Box(
            Values(
                queue: queue, nameLookup: nameLookup, connect: connect, secureConnection: secureConnection,
                sending: sending, waiting: waiting, receiving: receiving))
    }

    /// The time that the request waited for its transfer to begin, such as for a connection.
    ///
    /// The wait for a turn, as with `requestsPerHost` of a `URLSessionLoader`, comes before, and is measured as that of a queue.
    public var queue: Duration? { box.values.queue }
    /// The time that it took to find the address of the host.
    public var nameLookup: Duration? { box.values.nameLookup }
    /// The time that it took to open a connection, without making it secure.
    public var connect: Duration? { box.values.connect }
    /// The time that it took to make the connection secure.
    public var secureConnection: Duration? { box.values.secureConnection }
    /// The time that it took to send the request.
    public var sending: Duration? { box.values.sending }
    /// The time from then until the response began; where sending is not told apart, also the time of that.
    public var waiting: Duration? { box.values.waiting }
    /// The time from the beginning of the response to its end; nil for a response whose body is still arriving.
    public var receiving: Duration? { box.values.receiving }

    /// Whether both have the same times.
    public static func == (left: TransferPhases, right: TransferPhases) -> Bool { left.box.values == right.box.values }

    /// Hashes the times.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.values) }
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
            time.map { "\(name) \(($0 / .microseconds(100)).rounded() / 10) ms" }
        }.joined(separator: ", ")
    }
}
