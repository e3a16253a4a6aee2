/// Which networks a request may use.
///
/// Only the terminals of Apple systems tell networks apart; elsewhere this option has no effect.
public struct NetworkAccess: OptionSet, HTTPRequestOption {
    /// All networks that the session's configuration allows.
    public static var defaultOptionValue: NetworkAccess { .all }

    /// The kinds of network, as bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Cellular networks.
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks that the system considers expensive, such as a personal hotspot.
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in Low Data Mode.
    public static let constrained = NetworkAccess(rawValue: 4)
    /// All networks.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}

extension HTTPRequest {
    /// Which networks the request may use beside the usual ones; all of them by default.
    ///
    /// ```swift
    /// request.networkAccess = [.cellular]  // Cellular, but nothing expensive, and not in Low Data Mode.
    /// ```
    public var networkAccess: NetworkAccess {
        get { self[option: NetworkAccess.self] }
        set { self[option: NetworkAccess.self] = newValue }
    }
}
