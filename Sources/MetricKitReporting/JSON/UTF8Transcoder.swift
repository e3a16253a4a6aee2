/// Converts a text that arrives in pieces to UTF-8.
///
/// A text of UTF-16 or UTF-32 begins with a mark of byte order. Any other is taken for UTF-8 and passed on as it is, also with a
/// mark of its own, which its reader skips.
struct UTF8Transcoder: Sendable {
    private enum Encoding {
        case utf8
        case utf16(isBigEndian: Bool)
        case utf32(isBigEndian: Bool)
    }

    /// The encoding, once enough bytes have arrived to tell.
    private var encoding: Encoding?
    /// The bytes of an incomplete mark or code unit.
    private var pending: [UInt8] = []
    /// A high surrogate that waits for its low surrogate.
    private var firstHalf: UInt16?
    /// The number of bytes returned so far.
    private var offset = 0
    /// What is wrong after the bytes returned so far.
    private(set) var problem: JSONProblem?

    /// Converts a whole text.
    static func utf8(_ bytes: [UInt8]) throws(JSONProblem) -> [UInt8] {
        guard let first = bytes.first, canBeginMark(first) else { return bytes }
        var transcoder = UTF8Transcoder()
        let text = transcoder.read(bytes[...]) + transcoder.finish()
        if let problem = transcoder.problem { throw problem }
        return Array(text)
    }

    /// Converts a piece, up to the first error.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if case .utf8? = encoding { return passOn(bytes) }
        if encoding == nil {
            if pending.isEmpty, let first = bytes.first, !Self.canBeginMark(first) {
                encoding = .utf8
                return passOn(bytes)
            }
            pending += bytes
            // A mark of UTF-32 may begin as one of UTF-16 does.
            guard pending.count >= 4 else { return [] }
            return decideAndConvert()
        }
        return convert(bytes)
    }

    /// Converts the end of the text.
    mutating func finish() -> ArraySlice<UInt8> {
        let rest = encoding == nil ? decideAndConvert() : []
        if !pending.isEmpty || firstHalf != nil { fail(.unfinished) }
        return rest
    }

    private mutating func fail(_ reason: JSONProblem.Reason) {
        problem = problem ?? JSONProblem(reason: reason, offset: offset)
    }

    /// Whether a mark of UTF-16 or UTF-32 can begin with a byte.
    private static func canBeginMark(_ byte: UInt8) -> Bool { byte == 0xFE || byte == 0xFF || byte == 0 }

    private mutating func passOn(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        offset += bytes.count
        return bytes
    }

    private mutating func decideAndConvert() -> ArraySlice<UInt8> {
        let begin = pending
        pending = []
        let (encoding, length): (Encoding, Int) =
            if begin.starts(with: [0xFF, 0xFE, 0, 0]) {
                (.utf32(isBigEndian: false), 4)
            } else if begin.starts(with: [0, 0, 0xFE, 0xFF]) {
                (.utf32(isBigEndian: true), 4)
            } else if begin.starts(with: [0xFF, 0xFE]) {
                (.utf16(isBigEndian: false), 2)
            } else if begin.starts(with: [0xFE, 0xFF]) {
                (.utf16(isBigEndian: true), 2)
            } else {
                (.utf8, 0)
            }
        self.encoding = encoding
        return convert(begin[length...])
    }

    private mutating func convert(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let (width, isBigEndian): (Int, Bool)
        switch encoding {
        case .utf16(let order): (width, isBigEndian) = (2, order)
        case .utf32(let order): (width, isBigEndian) = (4, order)
        case .utf8, nil: return passOn(bytes)
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes where problem == nil {
            pending.append(byte)
            guard pending.count == width else { continue }
            let unit = pending.reduce(into: (value: UInt32(0), shift: UInt32(0))) { unit, byte in
                unit.value = isBigEndian ? unit.value << 8 | UInt32(byte) : unit.value | UInt32(byte) << unit.shift
                unit.shift += 8
            }
            pending.removeAll(keepingCapacity: true)
            append(unit.value, width: width, to: &text)
        }
        return text[...]
    }

    /// Appends the character that a code unit is or completes.
    private mutating func append(_ unit: UInt32, width: Int, to text: inout [UInt8]) {
        var value = unit
        if width == 2 {
            if let first = firstHalf {
                guard 0xDC00...0xDFFF ~= unit else { return fail(.encoding) }
                value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (unit - 0xDC00)
                firstHalf = nil
            } else if 0xD800...0xDBFF ~= unit {
                firstHalf = UInt16(unit)
                return
            }
        }
        guard let scalar = Unicode.Scalar(value) else { return fail(.encoding) }
        let letter = UTF8.encode(scalar)
        letter.map { text.append(contentsOf: $0) }
        offset += letter?.count ?? 0
    }
}
