/// The limits beyond which a ``LoopbackServer`` refuses a client.
public struct LoopbackLimits: Sendable, Hashable {
    /// The longest head, and the longest trailer, in bytes; a longer one gets a 431.
    public let headBytes: Int
    /// The longest body in bytes; a longer one gets a 413.
    public let bodyBytes: Int
    /// How many connections are served at once; further ones wait until one of them ends.
    public let connections: Int

    /// Whether the server keeps every request for ``LoopbackServer/requests``; without it, no wait for requests ends.
    public let keepsRequests: Bool

    /// Makes limits; each is clamped to a range that cannot overflow.
    public init(
        headBytes: Int = 64 << 10, bodyBytes: Int = 64 << 20, connections: Int = 512, keepsRequests: Bool = true
    ) {
        // A quarter of the address space, so that adding a few limits cannot overflow.
        let range = 1...Int.max / 4
        self.headBytes = headBytes.clamped(to: range)
        self.bodyBytes = bodyBytes.clamped(to: 0...range.upperBound)
        self.connections = connections.clamped(to: range)
        self.keepsRequests = keepsRequests
    }
}

extension Comparable {
    /// The nearest value within a range.
    func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
