import LoaderChain

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
