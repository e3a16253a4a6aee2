extension Hedge {
    /// Why a slow request was not hedged.
    public enum Suppression: String, Sendable, CaseIterable {
        /// Too few response times of its kind were known.
        case tooFewSamples
        /// The requests have not paid for so many hedges, or a shared ``RetryBudget`` is spent.
        case budget
        /// The host has asked for fewer requests a short while ago, or a loader below has refused one for it.
        case pushback
        /// Far more requests of its kind were slow than the quantile says, so a second attempt would be slow too.
        case allSlow
        /// The usual time would not end before the deadline.
        case deadline
        /// The second attempt would have waited in a queue below, such as that of a full ``Throttle``.
        case queue
        /// A loader below, such as a ``CircuitBreaker``, has refused the second attempt.
        case refused
        /// The condition that the loader was made with does not hold.
        case condition
    }

    /// What has happened to a request; see ``Hedge/init(_:budget:timers:condition:onEvent:)``.
    public struct Event: Hashable, Sendable {
        /// What can happen.
        public enum Kind: Hashable, Sendable {
            /// The second attempt was sent.
            case sent
            /// The second attempt has the response.
            case won
            /// The second attempt has ended without being of use.
            case lost
            /// There was no second attempt, though the first was slow or would have been watched.
            case suppressed(Suppression)
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
            switch kind {
            case .sent: sent += 1
            case .won: won += 1
            case .lost: lost += 1
            case .suppressed(let reason): suppressed[reason, default: 0] += 1
            }
        }
    }
}
