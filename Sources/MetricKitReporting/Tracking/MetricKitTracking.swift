import LineProtocol
import LoaderChainPlatformFoundation

/// A tracker for payloads.
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

    /// Receives every payload, including those that cannot be read.
    public static func reports(_ take: @escaping @Sendable (_ reports: [MetricKitReport]) -> Void) -> MetricKitTracking
    {
        MetricKitTracking(take: take)
    }

    /// Receives the averages of one version, for a tracking service; is not called if there are none.
    ///
    /// - Parameters:
    ///   - applicationVersion: the version, usually the running one. Payloads that include others do not count.
    ///   - rule: the value that represents a bucket.
    ///   - track: is called with `attributes(applicationVersion:by:)` of the payloads.
    public static func attributes(
        applicationVersion: String, by rule: BucketValue = .end,
        _ track: @escaping @Sendable (_ attributes: [String: Double]) -> Void
    ) -> MetricKitTracking {
        MetricKitTracking { reports in
            let attributes = reports.metrics.attributes(applicationVersion: applicationVersion, by: rule)
            if !attributes.isEmpty { track(attributes) }
        }
    }

    /// Receives the points of every payload, for a writer of points.
    ///
    /// - Parameters:
    ///   - secondsFromGMT: the UTC offset of the device, for payloads that do not name their time zone;
    ///     that of this device by default.
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

    /// Receives every diagnostic.
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
