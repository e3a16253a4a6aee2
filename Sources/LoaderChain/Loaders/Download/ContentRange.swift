/// Which bytes of a file a response has: `bytes 500-999/1234` (RFC 9110, section 14.4).
struct ContentRange: Hashable, Sendable {
    /// The place of the first byte.
    let first: Int64
    /// The place of the last byte.
    let last: Int64
    /// How many bytes the file has; nil if the server does not know.
    let total: Int64?

    /// Reads the header of a response; nil unless there is one, in bytes, that makes sense.
    init?(_ headers: HTTPHeaders) {
        let values = headers.values(for: "Content-Range")
        guard values.count == 1, let value = values.first else { return nil }
        let parts = ASCII.trimmed(value.utf8).split(maxSplits: 1, whereSeparator: ASCII.isBlank)
        guard parts.count == 2, ASCII.isEqualIgnoringCase(String(decoding: parts[0], as: UTF8.self), "bytes") else {
            return nil
        }
        let numbers = ASCII.trimmed(parts[1]).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard numbers.count == 2 else { return nil }
        let bounds = numbers[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]) else {
            return nil
        }
        let isOpen = numbers[1].elementsEqual("*".utf8)
        let total = Self.number(numbers[1])
        guard first <= last, last < .max, isOpen || total.map({ last < $0 }) == true else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// The length of a body as its header has it; nil if it is missing or contradicts itself.
    static func length(_ headers: HTTPHeaders) -> Int64? {
        let lengths = Set(headers.list(for: "Content-Length"))
        return lengths.count == 1 ? lengths.first.flatMap { number($0.utf8) } : nil
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
