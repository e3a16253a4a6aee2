// Outside the folders: a payload of any kind, and averages over several payloads. Depends on Payload and Diagnostics; Tracking and
// Apple may use it.

import LoaderChainPlatformFoundation

/// A payload of any kind, including one that cannot be read.
///
/// ```swift
/// switch MetricKitReport(data) {
/// case .metrics(let payload): print(payload.appVersion ?? "unknown version")
/// case .diagnostics(let payload): print(payload.diagnostics.count)
/// case .unreadable(let data, let error): print("\(data.count) bytes are kept: \(error)")
/// }
/// ```
public enum MetricKitReport: Sendable, Hashable {
    /// Metrics.
    case metrics(MetricPayload)
    /// Diagnostics.
    case diagnostics(DiagnosticPayload)
    /// Bytes that are not a payload, and the reason. They can be submitted unchanged.
    case unreadable(Data, PayloadError)

    /// Reads a payload of any kind.
    public init(_ data: Data) {
        do throws(PayloadError) {
            let document = try JSONDocument(payload: data)
            self =
                PayloadKind(document.root) == .diagnostics
                ? .diagnostics(try DiagnosticPayload(document, data)) : .metrics(try MetricPayload(document, data))
        } catch {
            self = .unreadable(data, error)
        }
    }

    /// The original bytes.
    public var data: Data {
        switch self {
        case .metrics(let payload): payload.data
        case .diagnostics(let payload): payload.data
        case .unreadable(let data, _): data
        }
    }
}
