/// The header `traceparent` (W3C Trace Context, level 2).
extension HTTPTraceContext {
    static let parentFieldName = "traceparent"

    /// Reads the value of a `traceparent`; nil where it is not valid.
    ///
    /// A version above 00 may have further fields, which are ignored.
    init?(traceParent value: String) {
        let bytes = Array(ASCII.trimmed(Array(value.utf8)))
        guard bytes.count >= TraceParentField.length else { return nil }
        let version = bytes[..<2], trace = bytes[3..<35], span = bytes[36..<52], flags = bytes[53..<55]
        let dash = UInt8(ascii: "-")
        guard [2, 35, 52].allSatisfy({ bytes[$0] == dash }),
            [version, trace, span, flags].allSatisfy({ Hexadecimal.isLowercase($0) }),
            let number = Hexadecimal.value(of: version), number != TraceParentField.invalidVersion,
            bytes.count == TraceParentField.length || (number > 0 && bytes[TraceParentField.length] == dash),
            let high = Hexadecimal.value(of: trace.prefix(16)), let low = Hexadecimal.value(of: trace.suffix(16)),
            let traceID = TraceID(high: high, low: low),
            let spanID = Hexadecimal.value(of: span).flatMap({ SpanID($0) }), let bits = Hexadecimal.value(of: flags)
        else { return nil }
        // Other bits have no meaning yet, and must not be passed on.
        let known = Flags(rawValue: UInt8(bits)).intersection([.sampled, .random])
        self.init(traceID: traceID, spanID: spanID, flags: known)
    }

    /// The value of a `traceparent`, in version 00.
    var traceParent: String {
        let dash = UInt8(ascii: "-")
        var bytes = Array("00-".utf8)
        bytes.reserveCapacity(TraceParentField.length)
        Hexadecimal.append(traceID.high, digits: 16, to: &bytes)
        Hexadecimal.append(traceID.low, digits: 16, to: &bytes)
        bytes.append(dash)
        Hexadecimal.append(spanID.value, digits: 16, to: &bytes)
        bytes.append(dash)
        Hexadecimal.append(UInt64(flags.intersection([.sampled, .random]).rawValue), digits: 2, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads `traceparent` and `tracestate`.
    ///
    /// A message that has several `traceparent` has none that is right.
    static func w3c(_ headers: HTTPHeaders) -> HTTPTraceContext? {
        let values = headers.values(for: parentFieldName)
        guard values.count == 1, var context = HTTPTraceContext(traceParent: values[0]) else { return nil }
        context.state = State(headers)
        return context
    }
}

/// The shape of a `traceparent`: version, trace, span and flags, as digits with dashes between them.
private enum TraceParentField {
    static let length = 55
    static let invalidVersion = 0xFF
}
