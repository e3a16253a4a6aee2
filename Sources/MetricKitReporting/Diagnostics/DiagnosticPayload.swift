import LoaderChainPlatformFoundation

/// The diagnostics of an app.
///
/// ```swift
/// let payload = try DiagnosticPayload(data)
/// for diagnostic in payload.diagnostics {
///     if case .hang(let hang) = diagnostic.details { print(hang.duration ?? .zero) }
/// }
/// ```
///
/// For payloads of many megabytes, use ``DiagnosticReader``, which stores nothing.
public struct DiagnosticPayload: Sendable, Hashable {
    /// The time that the payload covers.
    public var timeRange = PayloadTimeRange()
    /// The diagnostics, in the order of the payload.
    public var diagnostics: [Diagnostic] = []
    /// Values that the model does not know, or that could not be understood; each diagnostic has its own too.
    public internal(set) var leftovers: [Leftover] = []
    /// The bytes of the payload.
    public internal(set) var data = Data()

    /// Makes an empty payload, to be filled by hand.
    public init() {}

    /// Reads a payload, as `MXDiagnosticPayload.jsonRepresentation()` gives it, or as a `DiagnosticReport` encodes itself.
    ///
    /// - Parameter data: the JSON.
    /// - Throws: ``PayloadError`` if the data is not JSON, not a payload of diagnostics, or too large.
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
