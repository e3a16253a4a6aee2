#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Any payload, also one that cannot be read.
///
/// ```swift
/// switch MetricKitReport(data) {
/// case .metrics(let payload): print(payload.appVersion ?? "unknown version")
/// case .diagnostics(let payload): print(payload.diagnostics.count)
/// case .unreadable(let data, let error): print("\(data.count) bytes are kept: \(error)")
/// }
/// ```
public enum MetricKitReport: Sendable, Hashable {
    /// What the system has measured.
    case metrics(MetricPayload)
    /// What went wrong.
    case diagnostics(DiagnosticPayload)
    /// Bytes that are no payload, and why. They can be submitted as they are.
    case unreadable(Data, PayloadError)

    /// Reads whatever it is.
    public init(_ data: Data) {
        do throws(PayloadError) {
            let document = try Self.document(data)
            if Self.holdsDiagnostics(document.root) {
                self = .diagnostics(try DiagnosticPayload(data))
            } else {
                self = .metrics(try Self.metrics(in: document, data))
            }
        } catch {
            self = .unreadable(data, error)
        }
    }

    /// The bytes as they came.
    public var data: Data {
        switch self {
        case .metrics(let payload): payload.data
        case .diagnostics(let payload): payload.data
        case .unreadable(let data, _): data
        }
    }

    static func metrics(in data: Data) throws(PayloadError) -> MetricPayload {
        let document = try document(data)
        if holdsDiagnostics(document.root) {
            throw PayloadError(code: .notAPayload, reason: "This is a payload of diagnostics, and not of metrics.")
        }
        return try metrics(in: document, data)
    }

    private static func document(_ data: Data) throws(PayloadError) -> JSONDocument {
        do throws(JSONProblem) {
            let limit = JSONLimits.standard.bytes
            // Before anything is copied.
            guard data.count <= limit else { throw JSONProblem(reason: .tooLong, offset: limit) }
            return try JSONDocument([UInt8](data))
        } catch {
            throw PayloadError(error)
        }
    }

    private static func metrics(in document: JSONDocument, _ data: Data) throws(PayloadError) -> MetricPayload {
        guard MetricPayload.isOne(document.root) else {
            throw PayloadError(
                code: .notAPayload,
                reason: "This is JSON, but no payload: it has none of a payload's keys.")
        }
        var payload = MetricPayload(document)
        if payload.leftovers.count > JSONLimits.kept { throw .tooManyLeftovers }
        payload.data = data
        return payload
    }

    /// Whether there are diagnostics, or nothing but the place for some.
    ///
    /// An empty section of diagnostics beside metrics takes nothing from them.
    private static func holdsDiagnostics(_ root: JSONNode) -> Bool {
        var hasEmptySection = false
        for (key, value) in root.members {
            guard let name = key.text else { continue }
            if name == DiagnosticReader.resultKey, value.kind == .object { return true }
            guard DiagnosticSection(rawValue: name) != nil else { continue }
            if value.elements.first(where: { _ in true }) != nil { return true }
            hasEmptySection = true
        }
        return hasEmptySection && !MetricPayload.holdsMetrics(root)
    }
}
