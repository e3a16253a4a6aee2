/// A version of TLS.
public struct TLSVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number after `1.`, so that versions have an order.
    let minor: Int

    /// TLS 1.2.
    public static let v1_2 = TLSVersion(minor: 2)
    /// TLS 1.3.
    public static let v1_3 = TLSVersion(minor: 3)

    /// Whether the first version is older.
    public static func < (first: TLSVersion, second: TLSVersion) -> Bool { first.minor < second.minor }

    /// The name and the number, as in `TLS 1.3`.
    public var description: String { "TLS 1.\(minor)" }
}
