// Averages: averages over several payloads. Depends on Payload and Histogram; Printing and Tracking may use it.

/// How much an app hangs per hour of use.
public struct HangRate: Sendable, Hashable {
    /// The histogram of hangs.
    public let hangs: Histogram<Duration>
    /// How long the app was in the foreground in the same time.
    public let foreground: Duration

    /// Makes a rate; nil if the app was not in the foreground at all.
    ///
    /// - Parameters:
    ///   - hangs: the times in which the app did not respond.
    ///   - foreground: how long the app was in the foreground.
    public init?(hangs: Histogram<Duration>, foreground: Duration) {
        guard foreground > .zero else { return nil }
        self.hangs = hangs
        self.foreground = foreground
    }

    private var hours: Double { foreground.histogramNumber / 3600 }

    /// The number of hangs per hour of use.
    public var hangsPerHour: Double { Double(hangs.count) / hours }

    /// The duration of hangs per hour of use.
    ///
    /// - Parameter rule: the value that represents a bucket.
    public func timePerHour(by rule: BucketValue = .end) -> Duration {
        let sum = hangs.sum(by: rule)?.histogramNumber ?? 0
        return Histogram<Duration>.bound(sum / hours) ?? .zero
    }
}

extension MetricPayload {
    /// How much the app hung per hour of use.
    ///
    /// Nil if the payload lacks the foreground time or the hangs. A payload without hangs does not say whether there were
    /// none or the system did not count them.
    public var hangRate: HangRate? {
        guard let hangs = applicationResponsiveness?.hangTime, let foreground = applicationTime?.foreground else {
            return nil
        }
        return HangRate(hangs: hangs, foreground: foreground)
    }
}

extension Sequence<MetricPayload> {
    /// How much one version of the app hung per hour of use, over all payloads that have both figures.
    ///
    /// - Parameters:
    ///   - applicationVersion: the version; payloads that include others do not count.
    ///   - countingSilenceAsNone: whether a payload with a foreground time and no hangs counts as one with zero hangs. Use it
    ///     if all your users have systems that count hangs; otherwise the rate is too low.
    public func hangRate(applicationVersion: String, countingSilenceAsNone: Bool = false) -> HangRate? {
        var hangs: [Histogram<Duration>] = []
        var foreground = Duration.zero
        for payload in of(applicationVersion: applicationVersion) {
            guard let time = payload.applicationTime?.foreground else { continue }
            let silence: Histogram<Duration>? = countingSilenceAsNone ? Histogram([]) : nil
            guard let hang = payload.applicationResponsiveness?.hangTime ?? silence else { continue }
            hangs.append(hang)
            foreground += time
        }
        return hangs.isEmpty ? nil : HangRate(hangs: Histogram(merging: hangs), foreground: foreground)
    }
}
