extension HTTPTraceContext {
    /// Reads the context from the headers of a message: `traceparent` with `tracestate`, or B3, and `baggage`.
    ///
    /// The context is nil without a valid identifier of a trace and a span. A `tracestate` that is not valid is left out.
    public init?(_ headers: HTTPHeaders) {
        guard var context = Self.w3c(headers) ?? Self.b3(headers) else { return nil }
        context.baggage = Baggage(headers)
        self = context
    }
}

/// The header `traceparent` (W3C Trace Context, level 2).
extension HTTPTraceContext {
    static let parentFieldName = "traceparent"

    /// Reads the value of a `traceparent`, nil if it is not valid; further fields, which a version above 00 may have, are ignored.
    init?(traceParent value: String) {
        let fields = ASCII.trimmed(value.utf8).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard fields.count >= 4,
            zip(fields, [2, 32, 16, 2]).allSatisfy({ $0.count == $1 && Hexadecimal.isLowercase($0) }),
            let version = Hexadecimal.value(of: fields[0]), version != 0xFF, version > 0 || fields.count == 4,
            let traceID = TraceID(fields[1]), let spanID = SpanID(fields[2]),
            let bits = Hexadecimal.value(of: fields[3])
        else { return nil }
        // Other bits have no meaning yet, and must not be passed on.
        let known = Flags(rawValue: UInt8(bits)).intersection([.sampled, .random])
        self.init(traceID: traceID, spanID: spanID, flags: known)
    }

    /// The value of a `traceparent`, in version 00.
    var traceParent: String {
        let known = flags.intersection([.sampled, .random])
        return "00-\(traceID)-\(spanID)-\(Hexadecimal.text(known.rawValue))"
    }

    /// Reads `traceparent` and `tracestate`; a message with several `traceparent` headers has no valid one.
    private static func w3c(_ headers: HTTPHeaders) -> HTTPTraceContext? {
        let values = headers.values(for: parentFieldName)
        guard values.count == 1, var context = HTTPTraceContext(traceParent: values[0]) else { return nil }
        context.state = State(headers)
        return context
    }
}

extension HTTPTraceContext {
    /// The private values of tracing systems along the way: the header `tracestate` (W3C Trace Context, level 2).
    ///
    /// Each system has a key of its own. A system that changes its value puts it first; all others pass unchanged.
    public struct State: Hashable, Sendable {
        /// The entries, the last changed first.
        public private(set) var entries: [Entry] = []

        /// A key with its value.
        public struct Entry: Hashable, Sendable {
            /// The name of a tracing system.
            public let key: String
            /// Its private value.
            public let value: String
        }

        /// Makes a state without entries.
        public init() {}

        /// Reads `tracestate`, which may stand in several lines; empty if a part of it is not valid.
        public init(_ headers: HTTPHeaders) {
            var entries: [Entry] = []
            for line in headers.values(for: Self.fieldName) {
                for member in line.utf8.split(separator: UInt8(ascii: ",")) {
                    let member = ASCII.trimmed(member)
                    if member.isEmpty { continue }
                    guard let entry = Entry(member) else { return }
                    // Of two with one key, the first was written last.
                    if !entries.contains(where: { $0.key == entry.key }) { entries.append(entry) }
                    guard entries.count <= Self.greatestCount else { return }
                }
            }
            self.entries = entries
        }

        /// The value of a key; nil if there is none.
        public subscript(key: String) -> String? { entries.first { $0.key == key }?.value }

        /// Puts an entry first, and drops the last one of more than 32.
        ///
        /// - Parameters:
        ///   - key: up to 256 of the characters `a-z0-9_*/@-`; a letter or a digit comes first.
        ///   - value: 1 to 256 printable ASCII characters, without commas, equals signs or a space at the end.
        /// - Returns: whether the key and the value are valid; otherwise nothing changes.
        @discardableResult
        public mutating func set(_ key: String, to value: String) -> Bool {
            guard let entry = Entry(key, value) else { return false }
            remove(key)
            entries.insert(entry, at: 0)
            if entries.count > Self.greatestCount { entries.removeLast() }
            return true
        }

        /// Removes the entry of a key.
        public mutating func remove(_ key: String) { entries.removeAll { $0.key == key } }

        static let fieldName = "tracestate"
        private static let greatestCount = 32
        /// The length that every system along the way has to pass.
        private static let greatestLength = 512
        /// Entries longer than this are the first to go.
        private static let usualLength = 128

        /// The value of the header, nil without entries; if it is too long, entries are left out: first the last long ones, then the last.
        var fieldValue: String? {
            var kept = entries
            while kept.reduce(kept.count - 1, { $0 + $1.length }) > Self.greatestLength {
                kept.remove(at: kept.lastIndex { $0.length > Self.usualLength } ?? kept.count - 1)
            }
            return kept.isEmpty ? nil : kept.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        }
    }
}

extension HTTPTraceContext.State.Entry {
    private static let keyStart = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789")
    private static let keyBytes = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_-*/@")

    /// Nil for a key or a value that the grammar does not allow.
    fileprivate init?(_ key: String, _ value: String) {
        guard 1...256 ~= key.utf8.count, 1...256 ~= value.utf8.count,
            key.utf8.first.map(Self.keyStart.contains) ?? false, key.utf8.allSatisfy(Self.keyBytes.contains),
            value.utf8.allSatisfy({
                ASCII.space..<ASCII.delete ~= $0 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
            }), value.utf8.last != ASCII.space
        else { return nil }
        self.key = key
        self.value = value
    }

    /// Reads `key=value`.
    fileprivate init?(_ member: some Collection<UInt8>) {
        guard let sign = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        self.init(
            String(decoding: member[..<sign], as: UTF8.self),
            String(decoding: member[sign...].dropFirst(), as: UTF8.self))
    }

    /// How many characters the entry takes in the header.
    fileprivate var length: Int { key.utf8.count + 1 + value.utf8.count }
}

/// The headers of B3: one, `b3`, or several, `X-B3-TraceId` and others.
extension HTTPTraceContext {
    /// Reads `b3`, or the several headers if it is not valid; the trace is recorded if there is a debug flag, or no flag at all.
    private static func b3(_ headers: HTTPHeaders) -> HTTPTraceContext? {
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
        // An identifier of 64 bits is the second half of an identifier whose first half is zero.
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

    var b3: String { "\(traceID)-\(spanID)-\(b3Sampled)" }

    private var b3Sampled: String { flags.contains(.sampled) ? "1" : "0" }

    func b3Fields(parent: SpanID?) -> [HTTPHeaders.Field] {
        var fields = [
            HTTPHeaders.Field(B3.trace, "\(traceID)"), HTTPHeaders.Field(B3.span, "\(spanID)"),
            HTTPHeaders.Field(B3.sampled, b3Sampled),
        ]
        if let parent { fields.append(HTTPHeaders.Field(B3.parent, "\(parent)")) }
        return fields
    }
}

enum B3 {
    static let single = "b3"
    static let trace = "X-B3-TraceId"
    static let span = "X-B3-SpanId"
    static let parent = "X-B3-ParentSpanId"
    static let sampled = "X-B3-Sampled"
    static let flags = "X-B3-Flags"
}
