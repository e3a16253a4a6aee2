/// The identifier of a trace, 128 bits: everything that one cause has led to, in all programs.
///
/// Its description is the 32 hexadecimal digits that headers and exporters have.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// Makes an identifier of its two halves; nil if both are zero, which no trace has.
    public init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// Makes a random identifier.
    public init(random: RandomSource = .system) {
        high = random.next()
        let low = random.next()
        self.low = high == 0 && low == 0 ? 1 : low
    }

    /// Reads 32 hexadecimal digits in either case; nil for anything else, and for zero.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.digits, let high = Hexadecimal.value(of: bytes[..<16]),
            let low = Hexadecimal.value(of: bytes[16...])
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The 32 hexadecimal digits.
    public var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }

    static var digits: Int { 32 }
}

/// The identifier of a span, 64 bits: one operation of a trace, such as an attempt to send a request.
///
/// Its description is the 16 hexadecimal digits that headers and exporters have.
public struct SpanID: Hashable, Sendable, CustomStringConvertible {
    /// The 64 bits, which are not all zero.
    public let value: UInt64

    /// Makes an identifier of its bits; nil for zero, which no span has.
    public init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// Makes a random identifier.
    public init(random: RandomSource = .system) {
        let value = random.next()
        self.value = value == 0 ? 1 : value
    }

    /// Reads 16 hexadecimal digits in either case; nil for anything else, and for zero.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.digits, let value = Hexadecimal.value(of: bytes[...]) else { return nil }
        self.init(value)
    }

    /// The 16 hexadecimal digits.
    public var description: String { Hexadecimal.text(value) }

    static var digits: Int { 16 }
}
