extension Hedge {
    /// Why a slow request was not hedged; there may be more reasons in the future.
    public struct Suppression: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a reason of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the reason.
        public var description: String { rawValue }

        /// Too few response times of its kind were known.
        public static let tooFewSamples = Suppression(rawValue: "tooFewSamples")
        /// The requests have not paid for so many hedges, or a shared ``RetryBudget`` is spent.
        public static let budget = Suppression(rawValue: "budget")
        /// The host has asked for fewer requests a short while ago, or a loader below has refused one for it.
        public static let pushback = Suppression(rawValue: "pushback")
        /// Far more requests of its kind were slow than the quantile says, so a second attempt would be slow too.
        public static let allSlow = Suppression(rawValue: "allSlow")
        /// The usual time would not end before the deadline.
        public static let deadline = Suppression(rawValue: "deadline")
        /// The second attempt would have waited in a queue below, such as that of a full ``Throttle``.
        public static let queue = Suppression(rawValue: "queue")
        /// A loader below, such as a ``CircuitBreaker``, has refused the second attempt.
        public static let refused = Suppression(rawValue: "refused")
        /// The condition that the loader was made with does not hold.
        public static let condition = Suppression(rawValue: "condition")
    }

    /// What has happened to a request; see ``Hedge/init(_:budget:timers:condition:onEvent:)``.
    public struct Event: Hashable, Sendable {
        /// What can happen; there may be more in the future.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            private let name: String
            /// Why there was no second attempt, if that is what has happened.
            public let suppression: Suppression?

            private init(_ name: String, _ suppression: Suppression? = nil) {
                self.name = name
                self.suppression = suppression
            }

            /// The second attempt was sent.
            public static let sent = Kind("sent")
            /// The second attempt has the response.
            public static let won = Kind("won")
            /// The second attempt has ended without being of use.
            public static let lost = Kind("lost")
            /// There was no second attempt, though the first was slow or would have been watched.
            public static func suppressed(_ reason: Suppression) -> Kind { Kind("suppressed", reason) }

            /// The name, with the reason if there is one, as in `suppressed(budget)`.
            public var description: String { suppression.map { "\(name)(\($0))" } ?? name }
        }

        /// The host in lowercase, with the port if that is not the scheme's own.
        public let host: String
        /// What has happened.
        public let kind: Kind
    }

    /// What has happened so far.
    public struct Snapshot: Hashable, Sendable {
        /// How many requests came that may be hedged.
        public var requests = 0
        /// How many second attempts were sent.
        public var sent = 0
        /// How many of them had the response.
        public var won = 0
        /// How many of them were of no use; the others are under way.
        public var lost = 0
        /// How many requests were not hedged, by the reason.
        public var suppressed: [Suppression: Int] = [:]

        /// Makes an empty snapshot.
        public init() {}

        /// Counts an event.
        mutating func count(_ kind: Event.Kind) {
            if let reason = kind.suppression {
                suppressed[reason, default: 0] += 1
            } else if kind == .sent {
                sent += 1
            } else if kind == .won {
                won += 1
            } else if kind == .lost {
                lost += 1
            }
        }
    }
}
