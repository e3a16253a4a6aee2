/// Names as the encoder writes them, where a backslash before `,`, `=` or a space is an escape and any other is itself.
enum EscapedText {
    /// Compares two names by the bytes they stand for: below zero if the first sorts before the second.
    static func compare<First: Collection<UInt8>, Second: Collection<UInt8>>(_ first: First, _ second: Second) -> Int {
        var left = Walk(first)
        var right = Walk(second)
        while true {
            switch (left.next(), right.next()) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let one?, let other?): if one != other { return one < other ? -1 : 1 }
            }
        }
    }

    static func unescaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var walk = Walk(bytes)
        var result: [UInt8] = []
        while let byte = walk.next() { result.append(byte) }
        return result
    }

    private struct Walk<Bytes: Collection<UInt8>> {
        private let bytes: Bytes
        private var index: Bytes.Index

        init(_ bytes: Bytes) {
            self.bytes = bytes
            index = bytes.startIndex
        }

        mutating func next() -> UInt8? {
            guard index < bytes.endIndex else { return nil }
            let byte = bytes[index]
            index = bytes.index(after: index)
            guard byte == UInt8(ascii: "\\"), index < bytes.endIndex else { return byte }
            switch bytes[index] {
            case UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "):
                defer { index = bytes.index(after: index) }
                return bytes[index]
            default: return byte
            }
        }
    }
}

extension EscapedText {
    /// Where a byte stands that no backslash precedes, or the end.
    static func firstIndex(of byte: UInt8, in bytes: ArraySlice<UInt8>) -> Int {
        var index = bytes.startIndex
        while index < bytes.endIndex, bytes[index] != byte {
            // Whatever follows a backslash is no separator.
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, bytes.endIndex)
    }
}
