/// Everything in a payload but the diagnostics, put together as an object.
struct PayloadHead {
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
