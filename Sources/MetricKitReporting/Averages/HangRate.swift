// Averages: averages over several payloads. Depends on Payload and Histogram; Printing and Tracking may use it.

/// How much an app hangs, for each hour that somebody uses it.
public struct HangRate: Sendable, Hashable {
    /// The hangs that were counted.
    public let hangs: Histogram<Duration>
    /// How long the app was in front of its users meanwhile.
    public let foreground: Duration

    /// Makes a rate; nil if the app was not used at all.
    ///
    /// - Parameters:
    ///   - hangs: the times in which the app did not answer.
    ///   - foreground: how long the app was in front of its users.
    public init?(hangs: Histogram<Duration>, foreground: Duration) {
        guard foreground > .zero else { return nil }
        self.hangs = hangs
        self.foreground = foreground
    }

    private var hours: Double { foreground.histogramNumber / 3600 }

    /// How often the app hung in an hour of use.
    public var hangsPerHour: Double { Double(hangs.count) / hours }

    /// How long the app hung in an hour of use.
    ///
    /// - Parameter rule: which value stands for those of a bucket.
    public func timePerHour(by rule: BucketValue = .end) -> Duration {
        let sum = hangs.sum(by: rule)?.histogramNumber ?? 0
        return Histogram<Duration>.bound(sum / hours) ?? .zero
    }
}

extension MetricPayload {
    /// How much the app hung for each hour of use.
    ///
    /// Nil if the payload does not say how long the app was used, or says nothing of hangs. It does not say whether that is because
    /// there were none or because the system did not count them.
    public var hangRate: HangRate? {
        guard let hangs = applicationResponsiveness?.hangTime, let foreground = applicationTime?.foreground else {
            return nil
        }
        return HangRate(hangs: hangs, foreground: foreground)
    }
}

extension Sequence<MetricPayload> {
    /// How much one version of the app hung for each hour of use, over all payloads that tell of both.
    ///
    /// - Parameters:
    ///   - applicationVersion: the version; payloads that tell of others do not count.
    ///   - countingSilenceAsNone: whether a payload that says how long the app was used, and nothing of hangs, is taken to say that
    ///     there were none. Do that if all your users have systems that count hangs; otherwise the rate is too low.
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
