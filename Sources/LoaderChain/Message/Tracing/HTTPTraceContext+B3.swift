/// The headers of B3: one, `b3`, or several, `X-B3-TraceId` and others.
extension HTTPTraceContext {
    /// Reads `b3`, or the several headers where it is not valid.
    ///
    /// A debug flag means that the trace is recorded, and so does no word about it.
    static func b3(_ headers: HTTPHeaders) -> HTTPTraceContext? {
        if let single = headers[B3.single].flatMap(HTTPTraceContext.init(b3:)) { return single }
        let isDebug = headers[B3.flags] == "1"
        return HTTPTraceContext(
            b3Trace: headers[B3.trace], span: headers[B3.span],
            sampled: isDebug ? "d" : headers[B3.sampled])
    }

    /// Reads `trace-span`, `trace-span-sampled` or `trace-span-sampled-parent`.
    private init?(b3 value: String) {
        let parts = value.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard 2...4 ~= parts.count else { return nil }
        if parts.count == 4, SpanID(parts[3]) == nil { return nil }
        self.init(b3Trace: parts[0], span: parts[1], sampled: parts.count > 2 ? parts[2] : nil)
    }

    private init?(b3Trace trace: String?, span: String?, sampled: String?) {
        guard let trace, let span, let spanID = SpanID(span) else { return nil }
        // An identifier of 64 bits is the end of one whose first half is zero.
        let whole = trace.utf8.count == SpanID.digits ? String(repeating: "0", count: SpanID.digits) + trace : trace
        guard let traceID = TraceID(whole) else { return nil }
        let flags: Flags? =
            switch sampled {
            case nil, "1", "d", "true": .sampled
            case "0", "false": []
            default: nil
            }
        guard let flags else { return nil }
        self.init(traceID: traceID, spanID: spanID, flags: flags)
    }

    /// The value of `b3`.
    var b3: String { "\(traceID)-\(spanID)-\(b3Sampled)" }

    private var b3Sampled: String { flags.contains(.sampled) ? "1" : "0" }

    /// The several headers, for a span with a parent.
    func b3Fields(parent: SpanID?) -> [HTTPHeaders.Field] {
        var fields = [
            HTTPHeaders.Field(B3.trace, "\(traceID)"), HTTPHeaders.Field(B3.span, "\(spanID)"),
            HTTPHeaders.Field(B3.sampled, b3Sampled),
        ]
        if let parent { fields.append(HTTPHeaders.Field(B3.parent, "\(parent)")) }
        return fields
    }
}

/// The names of B3's headers.
enum B3 {
    static let single = "b3"
    static let trace = "X-B3-TraceId"
    static let span = "X-B3-SpanId"
    static let parent = "X-B3-ParentSpanId"
    static let sampled = "X-B3-Sampled"
    static let flags = "X-B3-Flags"
}
