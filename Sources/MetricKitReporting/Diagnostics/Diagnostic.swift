/// One thing that went wrong.
public struct Diagnostic: Sendable, Hashable {
    /// What went wrong.
    public var details: DiagnosticDetails
    /// The version of the app.
    public var appVersion: String?
    /// Where it went wrong.
    public var metaData: PayloadMetaData
    /// Where the threads were.
    public var callStackTree: CallStackTree?
    /// What the model has no place for, and what it did not understand.
    public internal(set) var leftovers: [Leftover]
    /// The diagnostic as it came.
    public internal(set) var json: RawJSON

    /// Reads an element of the section of that key; nil if it is no object.
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
        // The version of the form that the diagnostic has, not of the app.
        _ = reader.text("version")
        callStackTree = reader.take(["callStackTree"]) { CallStackTree($0, path: $1, context) }
        reader.leaveRest()
        leftovers = context.leftovers
        json = RawJSON(bytes)
    }

    /// Reads the result of a report of iOS 27, an object with one member that is named after its kind.
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

    /// What went wrong, if nothing more is known of it.
    private static func bare(_ section: DiagnosticSection?, _ name: String) -> DiagnosticDetails {
        guard let section else { return .unknown(name) }
        let context = PayloadContext()
        var nothing = SectionReader(nil, path: "", context)
        return section.details(&nothing)
    }
}
