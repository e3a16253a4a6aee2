/// Parses a line, without its newline, as a point; every step advances `index`, and a step that fails leaves it at the problem.
struct LineParser {
    let bytes: [UInt8]
    let precision: Precision
    var index = 0
    /// The start of the measurement, after the characters that servers skip.
    private var start = 0
    private var seriesEnd = 0

    init(_ bytes: [UInt8], precision: Precision) {
        self.bytes = bytes
        self.precision = precision
        skipSpaces()
        start = index
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

    /// The byte at the current position, or nil at the end.
    @inline(__always)
    var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    func fault(_ code: LineDecodingError.Code) -> LineFault { LineFault(index: index, code: code) }

    /// Skips the characters that servers accept as space between the parts of a line.
    private mutating func skipSpaces() {
        while let byte, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0 { index += 1 }
    }

    /// The initial capacity for tags and fields.
    private static let usualCount = 8

    // MARK: The series

    private mutating func measurement() throws(LineFault) -> String {
        let name = try name(isMeasurement: true)
        guard !name.isEmpty else { throw LineFault(index: start, code: .missingMeasurement) }
        return name
    }

    private mutating func tags() throws(LineFault) -> Tags {
        var tags = Tags()
        if byte == UInt8(ascii: ",") { tags.reserve(Self.usualCount) }
        while byte == UInt8(ascii: ",") {
            // No series beyond it is valid, and tags that come in the wrong order are sorted one by one.
            guard index - start <= LineLimits.key else { throw fault(.overlongKey) }
            index += 1
            let keyStart = index
            let key = try name()
            guard !key.isEmpty else { throw fault(.missingTagKey) }
            guard byte == UInt8(ascii: "=") else { throw fault(.missingTagValue) }
            index += 1
            let value = try name()
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
            let key = try name()
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
        guard let count: Int64 = try wholeNumber(.timestampOutOfRange) else {
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

/// A problem of a line, and the index of its byte.
struct LineFault: Error, Equatable {
    var index: Int
    var code: LineDecodingError.Code
}

// MARK: Names

/// Names, in which a backslash escapes some bytes, and stands for itself before others.
extension LineParser {
    /// Parses a name up to the comma, equals sign or space that ends it; an equals sign does not end a measurement.
    @inline(__always)
    private mutating func name(isMeasurement: Bool = false) throws(LineFault) -> String {
        func isEnd(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "=") && !isMeasurement
        }
        let start = index
        var hasEscapes = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\"), index + 1 < bytes.count, isEnd(bytes[index + 1]) {
                hasEscapes = true
                index += 2
            } else if isEnd(byte) {
                break
            } else {
                index += 1
            }
        }
        let text = bytes[start..<index]
        return try string(hasEscapes ? Self.unescaped(text, isEnd) : text, at: start)
    }

    /// A text without the backslashes before escaped bytes.
    static func unescaped(_ text: ArraySlice<UInt8>, _ isEscaped: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var result: ArraySlice<UInt8> = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "\\"), index + 1 < text.endIndex, isEscaped(text[index + 1]) { index += 1 }
            result.append(text[index])
            index += 1
        }
        return result
    }

    /// The bytes as a string; throws if they are not valid UTF-8.
    func string(_ text: ArraySlice<UInt8>, at start: Int) throws(LineFault) -> String {
        guard let string = String(validating: text, as: UTF8.self) else {
            throw LineFault(index: start, code: .invalidUTF8)
        }
        return string
    }
}
