import LineProtocol

/// Which of InfluxDB's three writing interfaces a server speaks, or resembles.
///
/// | | path | units of time |
/// |---|---|---|
/// | ``v1`` | `/write` | `n`, `u`, `ms`, `s` |
/// | ``v2`` | `/api/v2/write` | `ns`, `us`, `ms`, `s` |
/// | ``v3`` | `/api/v3/write_lp` | `nanosecond`, `microsecond`, `millisecond`, `second` |
public enum InfluxAPI: Sendable, Hashable, CaseIterable {
    /// That of InfluxDB 1.
    case v1
    /// That of InfluxDB 2.
    case v2
    /// That of InfluxDB 3.
    case v3

    /// Where lines are written to, beneath the server's address.
    var path: String {
        switch self {
        case .v1: "write"
        case .v2: "api/v2/write"
        case .v3: "api/v3/write_lp"
        }
    }

    /// What the interface calls a unit of time.
    ///
    /// A name that it does not know is taken for nanoseconds by some servers, without a word.
    func name(of precision: Precision) -> String {
        switch (self, precision) {
        case (.v1, .nanoseconds): "n"
        case (.v1, .microseconds): "u"
        case (.v2, .nanoseconds): "ns"
        case (.v2, .microseconds): "us"
        case (.v1, .milliseconds), (.v2, .milliseconds): "ms"
        case (.v1, .seconds), (.v2, .seconds): "s"
        case (.v3, .nanoseconds): "nanosecond"
        case (.v3, .microseconds): "microsecond"
        case (.v3, .milliseconds): "millisecond"
        case (.v3, .seconds): "second"
        }
    }

    /// What its servers understand beyond what all do.
    var lineDialect: LineDialect { self == .v1 ? .influxDB1 : .influxDB2 }
}
