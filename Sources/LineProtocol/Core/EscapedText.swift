/// Names as the encoder writes them, where a backslash before `,`, `=` or a space is an escape and any other is itself.
///
/// A name lies at places of something that answers the byte at each of them.
enum EscapedText {
    /// Compares two names by the bytes they stand for: below zero if the first sorts before the second.
    static func compare(
        _ first: Range<Int>, in firstByte: (Int) -> UInt8, _ second: Range<Int>, in secondByte: (Int) -> UInt8
    ) -> Int {
        var (left, right) = (first, second)
        while true {
            switch (next(in: &left, firstByte), next(in: &right, secondByte)) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let one?, let other?): if one != other { return one < other ? -1 : 1 }
            }
        }
    }

    static func unescaped(_ places: Range<Int>, in byte: (Int) -> UInt8) -> [UInt8] {
        var rest = places
        var result: [UInt8] = []
        while let byte = next(in: &rest, byte) { result.append(byte) }
        return result
    }

    /// Takes the first byte that a name stands for off its front.
    private static func next(in rest: inout Range<Int>, _ byte: (Int) -> UInt8) -> UInt8? {
        guard let place = rest.first else { return nil }
        let first = byte(place)
        rest = rest.dropFirst()
        guard first == UInt8(ascii: "\\"), let following = rest.first.map(byte) else { return first }
        switch following {
        case UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "):
            rest = rest.dropFirst()
            return following
        default: return first
        }
    }

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
