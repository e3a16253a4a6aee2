/// The settings of a limit that a ``Throttle`` finds by itself.
///
/// A server that is asked for more than it can do at once makes requests wait, and so answers later. The limit follows from
/// that: it grows while the limit is reached and responses come as soon as ever, and shrinks when they come later than the
/// service takes, or when the server refuses.
///
/// ```swift
/// let throttle = Throttle(limit: .adaptive(AdaptiveLimit(initial: 8, maximum: 64)))
/// ```
public struct AdaptiveLimit: Hashable, Sendable {
    /// The limit before anything is known; between the minimum and the maximum.
    public let initial: Int
    /// The lowest limit, which is left when all requests are refused; at least 1.
    public let minimum: Int
    /// The highest limit; at least the minimum.
    public let maximum: Int

    /// Makes settings; out-of-range values are clamped.
    public init(initial: Int = 4, minimum: Int = 1, maximum: Int = 1_000) {
        self.minimum = min(max(1, minimum), Self.greatest)
        self.maximum = min(max(self.minimum, maximum), Self.greatest)
        self.initial = min(max(self.minimum, initial), self.maximum)
    }

    /// More than any client has under way; a billion can be multiplied without an overflow.
    private static let greatest = 1_000_000_000
}

extension AdaptiveLimit {
    /// The reason of a move; there may be more reasons in the future.
    public struct Reason: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a reason of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the reason.
        public var description: String { rawValue }

        /// The limit was reached, and responses came without delay.
        public static let underLimit = Reason(rawValue: "underLimit")
        /// Responses came later than the service takes: requests wait at the server.
        public static let delayed = Reason(rawValue: "delayed")
        /// The server refused, or did not answer in time.
        public static let pushedBack = Reason(rawValue: "pushedBack")
        /// For a moment, less is sent, to measure how long the service takes without a queue.
        public static let measuring = Reason(rawValue: "measuring")
        /// That has been measured, and the limit is what it was before.
        public static let measured = Reason(rawValue: "measured")
        /// The server asked for a pause.
        public static let paused = Reason(rawValue: "paused")
        /// The pause is over.
        public static let resumed = Reason(rawValue: "resumed")
    }

    /// A limit that has moved.
    public struct Change: Hashable, Sendable {
        /// The host, with its port if that is not the scheme's own; nil for the limit of all hosts.
        public let host: String?
        /// The limit before; 0 during a pause.
        public let from: Int
        /// The limit now; 0 during a pause.
        public let to: Int
        /// The reason of the move.
        public let reason: Reason
    }

    /// The state of one adaptive limit, at one instant.
    public struct Status: Hashable, Sendable {
        /// The number of tasks that may run at once now; 0 during a pause.
        public var limit: Int
        /// The reason of the last move of the limit; nil if it never moved.
        public var reason: Reason?
        /// How long the service takes when no request waits for another; nil while it is not known.
        public var serviceTime: Duration?
        /// How long recent responses took; nil while there were too few.
        public var recentTime: Duration?
    }
}

/// The number of tasks that a ``Throttle`` lets run at once: fixed, or found by the throttle.
///
/// ```swift
/// let throttle = Throttle(limit: 20, perHost: .adaptive())
/// ```
public struct ThrottleLimit: Hashable, Sendable, ExpressibleByIntegerLiteral {
    enum Kind: Hashable {
        case fixed(UInt)
        case adaptive(AdaptiveLimit)
    }

    let kind: Kind

    /// A number that changes only when the program changes it.
    public static func fixed(_ limit: UInt) -> ThrottleLimit { ThrottleLimit(kind: .fixed(limit)) }

    /// A number that follows what the server can do.
    public static func adaptive(_ settings: AdaptiveLimit = AdaptiveLimit()) -> ThrottleLimit {
        ThrottleLimit(kind: .adaptive(settings))
    }

    private init(kind: Kind) { self.kind = kind }

    /// Makes a fixed limit.
    public init(integerLiteral limit: UInt) { self = .fixed(limit) }

    /// The number of a fixed limit; no bound for an adaptive one.
    var fixed: UInt { if case .fixed(let limit) = kind { limit } else { .max } }

    var adaptive: AdaptiveLimit? { if case .adaptive(let settings) = kind { settings } else { nil } }
}

extension Throttle {
    /// The states of a throttle's adaptive limits, at one instant.
    public struct AdaptiveStatus: Hashable, Sendable {
        /// The state for all hosts together; nil unless that limit is adaptive.
        public var total: AdaptiveLimit.Status?
        /// The state for each host, named as in ``Snapshot/hosts``; empty unless those limits are adaptive.
        public var hosts: [String: AdaptiveLimit.Status]
    }

    /// The states of the adaptive limits, with the times that they follow from.
    ///
    /// ```swift
    /// if let status = throttle.adaptiveStatus.total { print(status.limit, status.reason?.rawValue ?? "") }
    /// ```
    public var adaptiveStatus: AdaptiveStatus {
        AdaptiveStatus(total: finders?.total?.status, hosts: finders?.statusOfHosts ?? [:])
    }
}
