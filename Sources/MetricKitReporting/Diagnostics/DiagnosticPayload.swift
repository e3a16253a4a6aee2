#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What went wrong in an app, as the system saw it.
///
/// ```swift
/// let payload = try DiagnosticPayload(data)
/// for diagnostic in payload.diagnostics {
///     if case .hang(let hang) = diagnostic.details { print(hang.duration ?? .zero) }
/// }
/// ```
///
/// For payloads of many megabytes there is ``DiagnosticReader``, which keeps nothing.
public struct DiagnosticPayload: Sendable, Hashable {
    /// The time that the payload tells of.
    public var timeRange = PayloadTimeRange()
    /// What went wrong, in the order of the payload.
    public var diagnostics: [Diagnostic] = []
    /// What the model has no place for, and what it did not understand; each diagnostic has its own besides.
    public internal(set) var leftovers: [Leftover] = []
    /// The payload as it came.
    public internal(set) var data = Data()

    /// Knows nothing yet, for one that is put together by hand.
    public init() {}

    /// Reads a payload, as `MXDiagnosticPayload.jsonRepresentation()` gives it, or as a `DiagnosticReport` encodes itself.
    ///
    /// - Parameter data: the JSON.
    /// - Throws: ``PayloadError`` if it is no JSON, or no payload of diagnostics, or larger than what is read.
    public init(_ data: Data) throws(PayloadError) {
        var reader = DiagnosticReader()
        var all: [Diagnostic] = []
        var count = 0
        func keep(_ diagnostic: Diagnostic) {
            count += 1
            if count <= JSONLimits.kept { all.append(diagnostic) }
        }
        reader.read(data, keep)
        let summary = try reader.finish(keep)
        guard count <= JSONLimits.kept else {
            throw PayloadError(
                code: .tooLarge,
                reason:
                    "This payload has \(count) diagnostics, and more than \(JSONLimits.kept) are read one by one only.")
        }
        diagnostics = all
        timeRange = summary.timeRange
        leftovers = summary.leftovers
        self.data = data
    }
}
