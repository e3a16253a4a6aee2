/// Finds where a line ends: at the first newline that is not in a string.
///
/// It sees every byte once, in order, in whatever pieces they come.
struct LineSplitter {
    /// Whether anything but space has come.
    private var hasBegun = false
    private var isComment = false
    /// Whether a space has ended the series.
    private var isInFields = false
    private var isQuoted = false
    private var isEscaped = false
    /// Whether an `=` has begun a value, in which alone quotes are quotes.
    private var isInValue = false

    /// Whether a string is open.
    var isInString: Bool { isQuoted }

    /// The place of the newline that ends the line, or nothing if it does not end in these bytes.
    @inline(__always)
    mutating func end<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> Int? where Bytes.Index == Int {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if !hasBegun { begin(byte) }
            if isComment {
                if byte == UInt8(ascii: "\n") { return index }
            } else if isEscaped {
                // A newline ends the line even so, unless it is in a string.
                if byte == UInt8(ascii: "\n"), !isQuoted { return index }
                isEscaped = false
            } else {
                switch byte {
                case UInt8(ascii: "\\"): isEscaped = true
                case UInt8(ascii: "\n") where !isQuoted: return index
                case UInt8(ascii: " ") where !isQuoted:
                    isInFields = true
                    isInValue = false
                case UInt8(ascii: "=") where isInFields && !isQuoted: isInValue = true
                case UInt8(ascii: ",") where !isQuoted: isInValue = false
                case UInt8(ascii: "\"") where isInValue: isQuoted.toggle()
                default: break  // Part of something.
                }
            }
            index += 1
        }
        return nil
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0: break  // Servers skip these.
        default:
            hasBegun = true
            isInFields = false
            isComment = byte == UInt8(ascii: "#")
        }
    }
}
