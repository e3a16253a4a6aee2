/// Names, in which a backslash before some bytes makes them part of the name, and is itself otherwise.
extension LineParser {
    static let measurementEscapes = ByteSet(", ")
    static let escapes = ByteSet(",= ")

    /// Reads a name up to one of `ends`.
    mutating func name(until ends: ByteSet, escapes: ByteSet) throws(LineFault) -> String {
        let start = index
        var hasEscapes = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\"), index + 1 < bytes.count, escapes.contains(bytes[index + 1]) {
                hasEscapes = true
                index += 2
            } else if ends.contains(byte) {
                break
            } else {
                index += 1
            }
        }
        let text = bytes[start..<index]
        return try string(hasEscapes ? Self.unescaped(text, escapes) : text, at: start)
    }

    static func unescaped(_ text: ArraySlice<UInt8>, _ escapes: ByteSet) -> ArraySlice<UInt8> {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "\\"), index + 1 < text.endIndex, escapes.contains(text[index + 1]) {
                index += 1
            }
            result.append(text[index])
            index += 1
        }
        return result[...]
    }

    /// The bytes as a string, which they are only if they are UTF-8.
    func string(_ text: ArraySlice<UInt8>, at start: Int) throws(LineFault) -> String {
        guard let string = String(validating: text, as: UTF8.self) else {
            throw LineFault(index: start, code: .invalidUTF8)
        }
        return string
    }
}

struct ByteSet {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ text: StaticString) {
        text.withUTF8Buffer { for byte in $0 { insert(byte) } }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        if byte >= 128 { return false }
        return (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
    }
}
