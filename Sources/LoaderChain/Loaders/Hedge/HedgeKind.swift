/// What a hedge knows about the requests of one kind.
final class HedgeKind: Sendable {
    let host: HTTPOrigin
    private let delay = Locked(HedgeDelay())

    init(of host: HTTPOrigin) { self.host = host }

    /// How long a first attempt may take before a second one is sent; nil while too little is known.
    func delay(_ settings: Hedge.Settings) -> Duration? { delay.withLock { $0.delay(settings) } }

    /// Notes that a first attempt has taken as long as the delay; returns whether far more are slow than should be.
    func noteSlow(_ settings: Hedge.Settings) -> Bool { delay.withLock { $0.noteSlow(settings) } }

    /// How long half of the responses take at most.
    var usualTime: Duration? { delay.withLock { $0.usualTime } }

    /// Notes how long a first attempt has taken until `result`, or until it lost.
    ///
    /// A response that asks for another attempt says nothing about the time of one that does not.
    ///
    /// - Parameter wasSlow: whether it took as long as the delay.
    func note(_ time: Duration, until result: HTTPResult?, wasSlow: Bool) {
        guard let isCensored = Self.isCensored(result) else { return }
        delay.withLock { $0.record(time, isCensored: isCensored, wasSlow: wasSlow) }
    }

    /// Whether the response would have taken longer; nil if the result says nothing about that.
    private static func isCensored(_ result: HTTPResult?) -> Bool? {
        guard let result else { return true }
        if result.isAcceptable { return false }
        // A reset says nothing, as it ends all at once.
        if result.error?.code == .resetInProgress { return nil }
        switch ResultMeaning(result) {
        case .stopped, .outOfTime, .lost: return true
        default: return nil
        }
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// Whether this is a response that another attempt would hardly improve: not a failure of the server.
    ///
    /// An error about such a response counts as well, as when a loader below does not find what it expects in it.
    var isAcceptable: Bool {
        guard response != nil, !isTransientFailure else { return false }
        switch ResultMeaning(self) {
        case .stopped, .outOfTime: return false
        default: return true
        }
    }
}
