/// What a hedge knows about the requests of one kind.
final class HedgeKind: Sendable {
    let host: HTTPOrigin
    private let delay = Locked(HedgeDelay())

    init(of host: HTTPOrigin) { self.host = host }

    func delay(_ settings: Hedge.Settings) -> Duration? { delay.withLock { $0.delay(settings) } }

    func noteSlow(_ settings: Hedge.Settings) -> Bool { delay.withLock { $0.noteSlow(settings) } }

    var usualTime: Duration? { delay.withLock { $0.usualTime } }

    /// Notes how long a first attempt has taken until `result`, or until it lost; `wasSlow` if that reached the delay.
    ///
    /// A response that asks for another attempt says nothing about the time of one that does not.
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
        case .answered, .unreachable, .heldBack, .unsendable, .insecure, .unauthorized, .useless, .notTaken, .unknown:
            return nil
        }
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// Whether another attempt is unlikely to improve this response: the server has not failed.
    ///
    /// An error about such a response counts as well, as when a loader below does not find what it expects in it.
    var isAcceptable: Bool {
        guard response != nil, !isTransientFailure else { return false }
        let meaning = ResultMeaning(self)
        return meaning != .stopped && meaning != .outOfTime
    }
}

/// Measures a task of which too little is known to hedge it.
final class HedgeSampler: HTTPTaskWaitObserver {
    private let desk: HedgeDesk
    private let kind: HedgeKind
    private let time: InPlaceLocked<ActiveTime>

    init(_ kind: HedgeKind, _ desk: HedgeDesk) {
        self.desk = desk
        self.kind = kind
        time = InPlaceLocked(ActiveTime(since: desk.clock.now))
    }

    func waitBegan() {
        let now = desk.clock.now
        time.withLock { $0.beginWait(at: now) }
    }

    func waitEnded() {
        let now = desk.clock.now
        time.withLock { $0.endWait(at: now) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        let now = desk.clock.now
        kind.note(time.withLock { $0.passed(at: now) }, until: result, wasSlow: false)
        desk.note(result, from: kind.host)
    }
}

// MARK: - Response times

/// The time that the first attempt of one kind of request may take before a second one is sent.
///
/// The quantile is computed again after each sixteenth part of the samples, because it changes little with each.
struct HedgeDelay: Sendable {
    private var times = CensoredTimes()
    private var current: Duration?
    private var samplesToRefresh = 0
    /// The share of the recent requests that were slow, which the last few dozen of them determine.
    private var slowShare = 0.0

    /// The delay; nil while there are too few samples.
    mutating func delay(_ settings: Hedge.Settings) -> Duration? {
        guard times.completed >= settings.minimumNumberOfSamples, times.count > 0 else { return nil }
        if current == nil || samplesToRefresh <= 0 {
            current = times.quantile(settings.usableQuantile).map(settings.bounded)
            samplesToRefresh = times.count / 16
        }
        return current
    }

    /// Notes that a first attempt has reached the delay; returns whether far more are slow than expected.
    ///
    /// Then the server is slow as a whole: a second attempt would be slow too, and make it slower.
    mutating func noteSlow(_ settings: Hedge.Settings) -> Bool {
        count(isSlow: true)
        return slowShare > Self.tooLargeShare(where: settings.usableQuantile)
    }

    private static var weight: Double { 1.0 / 32 }

    /// The share of slow requests that is too large if a quantile separates them from the others.
    ///
    /// It is larger than the expected share, and below 1, for each quantile: its odds are six times the expected odds. For 5 %
    /// of the requests it is 24 %, and for half of them 86 %.
    private static func tooLargeShare(where quantile: Double) -> Double {
        // With a quantile close to 1, some requests in a row are needed all the same.
        let expected = max(1 - quantile, 0.02)
        let odds = 6 * expected / (1 - expected)
        return odds / (1 + odds)
    }

    private mutating func count(isSlow: Bool) {
        slowShare += ((isSlow ? 1 : 0) - slowShare) * Self.weight
    }

    /// The time within which half of the responses come.
    var usualTime: Duration? { times.quantile(0.5) }

    /// Adds the time of a first attempt; `wasSlow` if that has been noted as slow, or is about to be.
    mutating func record(_ time: Duration, isCensored: Bool, wasSlow: Bool) {
        times.record(time, isCensored: isCensored)
        samplesToRefresh -= 1
        if !wasSlow { count(isSlow: false) }
    }
}

/// The last response times of one kind of request, of which some are only known to have been longer.
///
/// A time is *censored* if the wait for the response was cut short: the first attempt was cancelled because the second
/// one had won, or the caller gave up. Without these times, only quick responses would be left, the quantile would
/// shrink, more requests would be hedged, and the quantile would shrink further. Kaplan and Meier's estimator uses what
/// is known of them: until its end, a censored time was one of those that took longer.
///
/// The times are kept in order, so that a quantile is one pass over a small array.
struct CensoredTimes: Sendable {
    /// The number of times that are kept; a new one replaces the oldest.
    static var capacity: Int { 512 }

    private var inOrderOfArrival: [Sample] = []
    private var sorted: [Sample] = []
    private var oldest = 0
    /// The number of recorded times that are not censored, including those that are no longer kept.
    private(set) var completed = 0

    /// A time in microseconds; of equal times, those that are censored come last, as the estimator demands.
    private struct Sample: Comparable, Sendable {
        private let bits: UInt32

        init(_ time: Duration, isCensored: Bool) {
            let microseconds = time.saturatedNanoseconds / 1_000
            bits = UInt32(min(max(0, microseconds), Int64(UInt32.max >> 1))) << 1 | (isCensored ? 1 : 0)
        }

        var isCensored: Bool { bits & 1 == 1 }
        var time: Duration { .microseconds(Int64(bits >> 1)) }

        static func < (left: Sample, right: Sample) -> Bool { left.bits < right.bits }
    }

    var count: Int { sorted.count }

    mutating func record(_ time: Duration, isCensored: Bool) {
        let sample = Sample(time, isCensored: isCensored)
        if !isCensored, completed < .max { completed += 1 }
        if inOrderOfArrival.count < Self.capacity {
            inOrderOfArrival.append(sample)
        } else {
            sorted.remove(at: position(of: inOrderOfArrival[oldest]))
            inOrderOfArrival[oldest] = sample
            oldest = (oldest + 1) % Self.capacity
        }
        sorted.insert(sample, at: position(of: sample))
    }

    /// The time that a share of the responses does not exceed, from 0 to 1; nil if there are no times.
    ///
    /// If the longest times are censored, so that nothing is known about that share, the result is the longest time.
    func quantile(_ share: Double) -> Duration? {
        // Survival, the share of responses that take longer than the present one, is `factor * (atRisk - 1)`.
        var factor = 1 / Double(sorted.count)
        var atRisk = Double(sorted.count)
        // A rounding error must not exclude the sample that is meant.
        let target = 1 - share + 1e-9
        for sample in sorted {
            if sample.isCensored {
                factor *= atRisk / max(1, atRisk - 1)
            } else if factor * (atRisk - 1) <= target {
                return sample.time
            }
            atRisk -= 1
        }
        return sorted.last?.time
    }

    /// The first position at which a sample is not less than this one.
    private func position(of sample: Sample) -> Int {
        var range = sorted.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = sorted[middle] < sample ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
