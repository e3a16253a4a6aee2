/// Reads one line, without its end, into a point.
///
/// Where it stands in the line is `index`; every step moves it, and a step that fails leaves it where the problem is.
struct LineParser {
    let bytes: [UInt8]
    let precision: Precision
    var index = 0
    /// Where the measurement begins, behind what servers skip.
    private let start: Int
    private var seriesEnd = 0

    typealias Failure = LineDecodingError.Code

    init(_ bytes: [UInt8], precision: Precision) {
        self.bytes = bytes
        self.precision = precision
        var start = 0
        while start < bytes.count, Self.isSpace(bytes[start]) { start += 1 }
        self.start = start
        index = start
    }

    mutating func point() throws(LineFault) -> Point {
        let measurement = try measurement()
        let tags = try tags()
        seriesEnd = index
        skipSpaces()
        let fields = try fields()
        skipSpaces()
        return Point(measurement, tags: tags, fields: fields, timestamp: try timestamp())
    }

    /// The byte here, or nothing at the end.
    @inline(__always)
    var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    func fault(_ code: Failure) -> LineFault { LineFault(index: index, code: code) }

    /// Skips what servers take for space between the parts of a line.
    private mutating func skipSpaces() {
        while let byte, Self.isSpace(byte) { index += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0
    }

    /// How many tags or fields there is room for before there must be more.
    private static let usualCount = 8

    // MARK: The series

    private mutating func measurement() throws(LineFault) -> String {
        let name = try name(until: Self.measurementEscapes, escapes: Self.measurementEscapes)
        guard !name.isEmpty else { throw LineFault(index: start, code: .missingMeasurement) }
        return name
    }

    private mutating func tags() throws(LineFault) -> Tags {
        var tags = Tags()
        if byte == UInt8(ascii: ",") { tags.reserve(Self.usualCount) }
        while byte == UInt8(ascii: ",") {
            index += 1
            let keyStart = index
            let key = try name(until: Self.escapes, escapes: Self.escapes)
            guard !key.isEmpty else { throw fault(.missingTagKey) }
            guard byte == UInt8(ascii: "=") else { throw fault(.missingTagValue) }
            index += 1
            let value = try name(until: Self.escapes, escapes: Self.escapes)
            guard byte != UInt8(ascii: "=") else { throw fault(.invalidTagFormat) }
            guard !value.isEmpty else { throw fault(.missingTagValue) }
            guard key != "time" else { throw LineFault(index: keyStart, code: .reservedTag) }
            guard tags[key] == nil else { throw LineFault(index: keyStart, code: .duplicateTag) }
            tags[key] = value
        }
        return tags
    }

    // MARK: The fields

    private mutating func fields() throws(LineFault) -> Fields {
        guard byte != nil else { throw fault(.missingFields) }
        var fields: [Fields.Element] = []
        fields.reserveCapacity(Self.usualCount)
        while true {
            let keyStart = index
            let key = try name(until: Self.escapes, escapes: Self.escapes)
            guard !key.isEmpty else { throw fault(.missingFieldKey) }
            guard byte == UInt8(ascii: "=") else { throw fault(.missingFieldValue) }
            guard seriesEnd - start + 4 + index - keyStart <= LineLimits.key else {
                throw LineFault(index: keyStart, code: .overlongKey)
            }
            index += 1
            fields.append(Fields.Element(key: key, value: try value()))
            switch byte {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: " "), nil: return Fields(read: fields)
            default: throw fault(.unexpectedText)
            }
        }
    }

    private mutating func timestamp() throws(LineFault) -> Timestamp? {
        guard byte != nil else { return nil }
        let start = index
        guard let count = try wholeNumber(.timestampOutOfRange) else {
            throw LineFault(index: start, code: .invalidTimestamp)
        }
        while byte == UInt8(ascii: " ") { index += 1 }
        guard byte == nil else { throw fault(.invalidTimestamp) }
        let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: precision.nanosecondsPerUnit)
        let timestamp = Timestamp(nanoseconds: nanoseconds)
        guard !overflow, timestamp >= .earliest, timestamp <= .latest else {
            throw LineFault(index: start, code: .timestampOutOfRange)
        }
        return timestamp
    }
}

/// What is wrong with a line, and at which of its bytes.
struct LineFault: Error, Equatable {
    var index: Int
    var code: LineDecodingError.Code
}

// MARK: Names

/// Names, in which a backslash before some bytes makes them part of the name, and is itself otherwise.
extension LineParser {
    private static let measurementEscapes = ByteSet(", ")
    private static let escapes = ByteSet(",= ")

    /// Reads a name up to one of `ends`.
    private mutating func name(until ends: ByteSet, escapes: ByteSet) throws(LineFault) -> String {
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
