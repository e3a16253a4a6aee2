/// A diagnostic: one thing that went wrong.
public struct Diagnostic: Sendable, Hashable {
    /// Diagnostics.
    public var details: DiagnosticDetails
    /// The version of the app.
    public var appVersion: String?
    /// The app, the system and the device.
    public var metaData: PayloadMetaData
    /// The call stacks.
    public var callStackTree: CallStackTree?
    /// Values that the model does not know, or that could not be understood.
    public internal(set) var leftovers: [Leftover]
    /// The JSON of the diagnostic.
    public internal(set) var json: RawJSON

    /// Reads an element of the section with that key; nil if it is not an object.
    init?(_ bytes: [UInt8], section key: String) throws(JSONProblem) {
        let document = try JSONDocument(bytes)
        guard document.root.kind == .object else { return nil }
        let context = PayloadContext(document)
        let section = DiagnosticSection(rawValue: key)
        var reader = SectionReader(document.root, path: "", context)
        let read = reader.section("diagnosticMetaData") { reader in
            (
                details: section?.details(&reader), version: reader.text("appVersion", "applicationVersion"),
                metaData: PayloadMetaData(&reader)
            )
        }
        details = read?.details ?? Self.bare(section, key)
        appVersion = read?.version
        metaData = read?.metaData ?? PayloadMetaData()
        // The version of the format, not of the app.
        _ = reader.text("version")
        callStackTree = reader.take(["callStackTree"]) { CallStackTree($0, path: $1, context) }
        reader.leaveRest()
        leftovers = context.leftovers
        json = RawJSON(bytes)
    }

    /// Reads the result of an iOS 27 report, an object with one member named after its kind.
    init?(result bytes: [UInt8], environment: ReportEnvironment?) throws(JSONProblem) {
        let document = try JSONDocument(bytes)
        guard let (key, value) = document.root.members.first(where: { _ in true }), let name = key.text else {
            return nil
        }
        let context = PayloadContext(document)
        let section = DiagnosticSection(result: name)
        var reader = SectionReader(value["_0"] ?? value, path: name, context)
        details = section?.details(&reader) ?? Self.bare(section, name)
        callStackTree = reader.take(["callStackTree"]) { CallStackTree($0, path: $1, context) }
        reader.leaveRest()
        appVersion = environment?.appVersion
        metaData = environment?.metaData ?? PayloadMetaData()
        leftovers = context.leftovers
        json = RawJSON(bytes)
    }

    /// The details without any values.
    private static func bare(_ section: DiagnosticSection?, _ name: String) -> DiagnosticDetails {
        guard let section else { return .unknown(name) }
        let context = PayloadContext()
        var nothing = SectionReader(nil, path: "", context)
        return section.details(&nothing)
    }
}
