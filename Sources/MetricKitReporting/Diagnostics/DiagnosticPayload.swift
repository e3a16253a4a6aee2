// Diagnostics: payloads of diagnostics. Depends on Payload and the folders before it; later folders may use it.

import LoaderChain
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

/// Reads diagnostics one by one from a payload that arrives in pieces.
///
/// ```swift
/// var reader = DiagnosticReader()
/// for piece in [data.prefix(1_000), data.dropFirst(1_000)] {
///     reader.read(piece) { diagnostic in print(diagnostic.details.name) }
/// }
/// let summary = try reader.finish { diagnostic in print(diagnostic.details.name) }
/// print(summary.timeRange)
/// ```
///
/// A diagnostic is delivered as soon as it is complete, and is not stored. A payload of any size needs the memory of its
/// largest diagnostic, and one that is truncated loses only the diagnostic that it ends in.
public struct DiagnosticReader: Sendable {
    /// The contents of a payload besides its diagnostics.
    public struct Summary: Sendable, Hashable {
        /// The time that the payload covers.
        public var timeRange = PayloadTimeRange()
        /// Values that the model does not know, or that could not be understood.
        public internal(set) var leftovers: [Leftover] = []
    }

    private var transcoder = UTF8Transcoder()
    private var splitter = PayloadSplitter()
    private var problem: JSONProblem?
    /// Everything but the diagnostics, which is read at the end as an object.
    private var head = PayloadHead()
    private var leftovers: [Leftover] = []
    private var isAPayload = false

    /// Makes a reader.
    public init() {}

    /// Reads a piece of a payload.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that follow those read before.
    ///   - take: is called with each diagnostic that is complete.
    public mutating func read(_ bytes: some Sequence<UInt8>, _ take: (Diagnostic) -> Void) {
        guard problem == nil else { return }
        do throws(JSONProblem) {
            try split(transcoder.read(Array(bytes)[...]), take)
            problem = problem ?? transcoder.problem
        } catch {
            problem = problem ?? error
        }
    }

    private mutating func split(_ bytes: ArraySlice<UInt8>, _ take: (Diagnostic) -> Void) throws(JSONProblem) {
        var splitter = replace(&splitter, with: PayloadSplitter())
        defer { self.splitter = splitter }
        try splitter.read(bytes) { accept($0, take) }
    }

    /// Ends the payload.
    ///
    /// - Parameter take: is called with a diagnostic that needed the end of the payload to be understood.
    /// - Returns: the contents of the payload besides its diagnostics.
    /// - Throws: ``PayloadError`` if the bytes are not JSON or not a payload. Diagnostics that were delivered before are valid.
    public mutating func finish(_ take: (Diagnostic) -> Void) throws(PayloadError) -> Summary {
        let content: PayloadHead.Content
        do throws(JSONProblem) {
            if let problem { throw problem }
            try split(transcoder.finish(), take)
            if let problem = transcoder.problem { throw problem }
            guard splitter.isAtEnd else { throw JSONProblem(reason: .unfinished, offset: splitter.offset) }
            if let problem { throw problem }
            content = try head.finish()
        } catch {
            throw PayloadError(error)
        }
        guard isAPayload || content.isAPayload else {
            throw PayloadError(code: .notAPayload, reason: "This is JSON, but no payload of diagnostics.")
        }
        if content.leftovers.count + leftovers.count > JSONLimits.kept { throw .tooManyLeftovers }
        if let diagnostic = content.diagnostic { take(diagnostic) }
        return Summary(timeRange: content.timeRange, leftovers: leftovers + content.leftovers)
    }

    private mutating func accept(_ piece: PayloadSplitter.Piece, _ take: (Diagnostic) -> Void) {
        guard problem == nil else { return }
        do throws(JSONProblem) {
            guard piece.key.hasSuffix("Diagnostics"), piece.isElement || piece.isEmptyArray else {
                return try head.append(piece)
            }
            isAPayload = true
            guard piece.isElement else { return }
            if let diagnostic = try Diagnostic(piece.bytes, section: piece.key) {
                take(diagnostic)
            } else if leftovers.count <= JSONLimits.kept {
                leftovers.append(Leftover(path: piece.key, reason: .notUnderstood, json: RawJSON(piece.bytes)))
            }
        } catch {
            problem = JSONProblem(reason: error.reason, offset: piece.offset + error.offset)
        }
    }
}

/// Everything in a payload but the diagnostics, put together as an object.
private struct PayloadHead {
    /// The object without its closing brace.
    private var text: [UInt8] = [JSONText.openBrace]
    /// The key of the array that is open.
    private var openKey: [UInt8]?

    struct Content {
        var timeRange: PayloadTimeRange
        var leftovers: [Leftover]
        var diagnostic: Diagnostic?
        var isAPayload: Bool
    }

    mutating func append(_ piece: PayloadSplitter.Piece) throws(JSONProblem) {
        let length = text.count + piece.rawKey.count + piece.bytes.count
        guard length < JSONLimits.standard.bytes else { throw JSONProblem(reason: .tooLong, offset: 0) }
        if piece.isElement, openKey == piece.rawKey {
            text.append(JSONText.comma)
        } else {
            closeArray()
            if text.count > 1 { text.append(JSONText.comma) }
            text += piece.rawKey
            text.append(JSONText.colon)
            if piece.isElement {
                text.append(JSONText.openBracket)
                openKey = piece.rawKey
            }
        }
        text += piece.bytes
    }

    private mutating func closeArray() {
        if openKey != nil { text.append(JSONText.closeBracket) }
        openKey = nil
    }

    mutating func finish() throws(JSONProblem) -> Content {
        closeArray()
        text.append(JSONText.closeBrace)
        let document = try JSONDocument(text)
        let context = PayloadContext(document)
        var reader = SectionReader(document.root, path: "", context)
        let environment = reader.section("environment") { ReportEnvironment(&$0) }
        let result = reader.take([PayloadKind.resultKey]) { node, _ in
            node.kind == .object ? Array(node.bytes) : nil
        }
        let range = PayloadTimeRange(&reader)
        reader.leaveRest()
        let diagnostic: Diagnostic? =
            if let result { try Diagnostic(result: result, environment: environment) } else { nil }
        return Content(
            timeRange: range, leftovers: context.leftovers, diagnostic: diagnostic,
            isAPayload: diagnostic != nil || range != PayloadTimeRange())
    }
}
