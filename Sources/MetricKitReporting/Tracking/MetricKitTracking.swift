import LineProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where to go with what payloads say.
///
/// ```swift
/// let version = "1.2"
/// let tracking: [MetricKitTracking] = [
///     .attributes(applicationVersion: version) { attributes in print("metrics_received", attributes) },
///     .points { point in print(point) },
///     .diagnostics { diagnostic in print(diagnostic.details.name) },
/// ]
/// print(tracking.count)
/// ```
public struct MetricKitTracking: Sendable {
    let take: @Sendable (_ reports: [MetricKitReport]) -> Void

    /// Hands over whatever has come, also what could not be read.
    public static func reports(_ take: @escaping @Sendable (_ reports: [MetricKitReport]) -> Void) -> MetricKitTracking
    {
        MetricKitTracking(take: take)
    }

    /// Hands over the averages of one version, for a tracking service; nothing, if there are none.
    ///
    /// - Parameters:
    ///   - applicationVersion: the version, mostly the running one. Payloads that tell of others do not count.
    ///   - rule: which value stands for those of a bucket.
    ///   - track: is called with what `attributes(applicationVersion:by:)` answers of the payloads.
    public static func attributes(
        applicationVersion: String, by rule: BucketValue = .end,
        _ track: @escaping @Sendable (_ attributes: [String: Double]) -> Void
    ) -> MetricKitTracking {
        MetricKitTracking { reports in
            let attributes = reports.metrics.attributes(applicationVersion: applicationVersion, by: rule)
            if !attributes.isEmpty { track(attributes) }
        }
    }

    /// Hands over the points of every payload, for a writer of points.
    ///
    /// - Parameters:
    ///   - secondsFromGMT: how far the clock of the device is ahead, for payloads that do not say in which zone their times are;
    ///     by default that of the device which this runs on.
    ///   - write: is called with each point of ``MetricPayload/points(secondsFromGMT:received:)``.
    public static func points(
        secondsFromGMT: @escaping @Sendable () -> Int? = { TimeZone.current.secondsFromGMT() },
        _ write: @escaping @Sendable (Point) -> Void
    ) -> MetricKitTracking {
        MetricKitTracking { reports in
            for payload in reports.metrics {
                for point in payload.points(secondsFromGMT: secondsFromGMT(), received: .now) { write(point) }
            }
        }
    }

    /// Hands over every diagnostic.
    public static func diagnostics(_ take: @escaping @Sendable (Diagnostic) -> Void) -> MetricKitTracking {
        MetricKitTracking { reports in
            for case .diagnostics(let payload) in reports { payload.diagnostics.forEach(take) }
        }
    }
}

extension [MetricKitReport] {
    fileprivate var metrics: [MetricPayload] {
        compactMap { if case .metrics(let payload) = $0 { payload } else { nil } }
    }
}

extension Timestamp {
    fileprivate static var now: Timestamp {
        .milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
    }
}
