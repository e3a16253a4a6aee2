import LoaderChain

/// Reads diagnostics one by one, while their payload comes in pieces.
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
/// A diagnostic is handed out as soon as it is whole, and is not kept. So a payload of any size needs the memory of its largest
/// diagnostic, and one that breaks off loses no more than the diagnostic that it breaks off in.
public struct DiagnosticReader: Sendable {
    /// What a payload says besides its diagnostics.
    public struct Summary: Sendable, Hashable {
        /// The time that the payload tells of.
        public var timeRange = PayloadTimeRange()
        /// What the model has no place for, and what it did not understand.
        public internal(set) var leftovers: [Leftover] = []
    }

    /// The key of the one diagnostic of a report of iOS 27.
    static let resultKey = "result"

    private var splitter = PayloadSplitter()
    private var problem: JSONProblem?
    /// What is no diagnostic, to be read at the end as an object of its own.
    private var head = PayloadHead()
    private var leftovers: [Leftover] = []
    private var isAPayload = false

    /// Has read nothing yet.
    public init() {}

    /// Reads a piece of a payload.
    ///
    /// - Parameters:
    ///   - bytes: what follows the bytes that were read before.
    ///   - take: is called with each diagnostic that is whole now.
    public mutating func read(_ bytes: some Sequence<UInt8>, _ take: (Diagnostic) -> Void) {
        guard problem == nil else { return }
        let isRead: Void? = bytes.withContiguousStorageIfAvailable { readAll($0, take) }
        if isRead == nil { Array(bytes).withUnsafeBufferPointer { readAll($0, take) } }
    }

    private mutating func readAll(_ bytes: UnsafeBufferPointer<UInt8>, _ take: (Diagnostic) -> Void) {
        var splitter = exchange(&splitter, with: PayloadSplitter())
        do throws(JSONProblem) {
            try splitter.read(bytes) { accept($0, take) }
        } catch {
            problem = problem ?? error
        }
        self.splitter = splitter
    }

    /// Ends the payload.
    ///
    /// - Parameter take: is called with a diagnostic that could not be understood before the end of the payload.
    /// - Returns: what the payload says besides.
    /// - Throws: ``PayloadError`` if the bytes were no JSON, or no payload. What was handed out before is right nevertheless.
    public mutating func finish(_ take: (Diagnostic) -> Void) throws(PayloadError) -> Summary {
        if problem == nil, !splitter.isAtEnd { problem = JSONProblem(reason: .unfinished, offset: splitter.offset) }
        let content: PayloadHead.Content
        do throws(JSONProblem) {
            if let problem { throw problem }
            content = try head.finish()
        } catch {
            throw .notJSON(error)
        }
        guard isAPayload || content.isAPayload else {
            throw PayloadError(code: .notAPayload, reason: "This is JSON, but no payload of diagnostics.")
        }
        if let diagnostic = content.diagnostic { take(diagnostic) }
        return Summary(timeRange: content.timeRange, leftovers: leftovers + content.leftovers)
    }

    private mutating func accept(_ piece: PayloadSplitter.Piece, _ take: (Diagnostic) -> Void) {
        guard problem == nil else { return }
        let key = piece.key
        guard piece.isElement, key.hasSuffix("Diagnostics") else {
            head.append(piece)
            return
        }
        isAPayload = true
        do throws(JSONProblem) {
            if let diagnostic = try Diagnostic(piece.bytes, section: key) {
                take(diagnostic)
            } else {
                leftovers.append(Leftover(path: key, reason: .notUnderstood, json: RawJSON(piece.bytes)))
            }
        } catch {
            problem = JSONProblem(reason: error.reason, offset: piece.offset + error.offset)
        }
    }
}
