// Diagnostics: payloads of diagnostics. Depends on Payload and lower folders; higher folders may use it.

import LoaderChainPlatformFoundation

/// The diagnostics of an app.
///
/// ```swift
/// let payload = try DiagnosticPayload(data)
/// for diagnostic in payload.diagnostics {
///     if case .hang(let hang) = diagnostic.details { print(hang.duration ?? .zero) }
/// }
/// ```
public struct DiagnosticPayload: Sendable, Hashable {
    /// The time that the payload covers.
    public var timeRange = PayloadTimeRange()
    /// The diagnostics, in the order of the payload.
    public var diagnostics: [Diagnostic] = []
    /// Values that are not in the model, or that could not be parsed; each diagnostic has its own leftovers too.
    public internal(set) var leftovers: [Leftover] = []
    /// The bytes of the payload.
    public internal(set) var data = Data()

    /// Creates an empty payload.
    public init() {}

    /// Reads a payload from `MXDiagnosticPayload.jsonRepresentation()`, or from an encoded `DiagnosticReport`.
    ///
    /// - Parameter data: the JSON.
    /// - Throws: ``PayloadError`` if the data is not JSON, not a payload of diagnostics, or too large.
    public init(_ data: Data) throws(PayloadError) { try self.init(JSONDocument(payload: data), data) }

    init(_ document: JSONDocument, _ data: Data) throws(PayloadError) {
        self.data = data
        let context = PayloadContext()
        // Every array with such a name is read, even if it occurs twice in a payload.
        func isSection(_ name: String, _ value: JSONNode) -> Bool {
            value.kind == .array && DiagnosticSection.isName(name)
        }
        var (count, left) = (0, 0)
        for (key, value) in document.root.members {
            guard let name = key.text, isSection(name, value) else { continue }
            for element in value.elements {
                guard element.kind == .object else {
                    context.leave(element, at: name, .notUnderstood)
                    continue
                }
                count += 1
                guard count <= JSONLimits.kept, left <= JSONLimits.kept else { continue }
                let diagnostic = Diagnostic(element, section: name)
                diagnostics.append(diagnostic)
                left += diagnostic.leftovers.count
            }
        }
        var reader = SectionReader(document.root, path: "", context)
        let environment = reader.section("environment") { ReportEnvironment(&$0) }
        let result = reader.take([PayloadKind.resultKey]) { node, _ in node.kind == .object ? node : nil }
        if let result, let diagnostic = Diagnostic(result: result, environment: environment) {
            count += 1
            diagnostics.append(diagnostic)
            left += diagnostic.leftovers.count
        }
        timeRange = PayloadTimeRange(&reader)
        reader.leaveRest(unless: isSection)
        leftovers = context.leftovers
        guard PayloadKind(document.root) == .diagnostics else {
            throw PayloadError(code: .notAPayload, reason: "The JSON is not a payload of diagnostics.")
        }
        guard count <= JSONLimits.kept else {
            throw PayloadError(
                code: .tooLarge,
                reason: "The payload is too large: it has \(count) diagnostics, more than \(JSONLimits.kept).")
        }
        if leftovers.count + left > JSONLimits.kept { throw .tooManyLeftovers }
    }
}
