/// The reason why a line cannot be read, and its place in the text.
public struct LineDecodingError: Error, Sendable, Hashable {
    /// What is wrong with a line.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The measurement is empty.
        case missingMeasurement
        /// A tag has no key.
        case missingTagKey
        /// A tag has no value.
        case missingTagValue
        /// A tag's value contains an unescaped `=`.
        case invalidTagFormat
        /// Two tags have the same key.
        case duplicateTag
        /// A tag has the key `time`.
        case reservedTag
        /// The line ends before the fields.
        case missingFields
        /// A field has no key.
        case missingFieldKey
        /// A field has no value.
        case missingFieldValue
        /// A number cannot be read.
        case invalidNumber
        /// An integer does not fit into 64 bits, or a double is larger than the largest finite double.
        case numberOutOfRange
        /// A value is not a number, a string, true or false.
        case invalidValue
        /// A string has no end.
        case unterminatedString
        /// There is text between a value and the next comma or space.
        case unexpectedText
        /// The timestamp is not a whole number.
        case invalidTimestamp
        /// The timestamp is outside the range that servers can store.
        case timestampOutOfRange
        /// The series and a field's key are longer than 65,535 bytes in total, including the four bytes that join them.
        case overlongKey
        /// The line exceeds the decoder's maximum length.
        case overlongLine
        /// The bytes are not UTF-8.
        case invalidUTF8
    }

    /// The number of the line in the text, from 1.
    public var line: Int
    /// The position of the byte in the line, from 1.
    public var column: Int
    /// The problem.
    public var code: Code

    package init(line: Int, column: Int, code: Code) {
        self.line = line
        self.column = column
        self.code = code
    }

    /// The problem, as a sentence without its full stop.
    public var reason: String { code.description }
}

extension LineDecodingError: CustomStringConvertible {
    /// The position and the reason, such as `line 3, column 12: a field has no value`.
    public var description: String { "line \(line), column \(column): \(reason)" }
}

extension LineDecodingError.Code: CustomStringConvertible {
    /// The reason as a sentence without its full stop.
    public var description: String {
        switch self {
        case .missingMeasurement: "the measurement is empty"
        case .missingTagKey: "a tag has no key"
        case .missingTagValue: "a tag has no value"
        case .invalidTagFormat: "a tag's value contains an unescaped ="
        case .duplicateTag: "two tags have the same key"
        case .reservedTag: "a tag cannot have the key time"
        case .missingFields: "there are no fields"
        case .missingFieldKey: "a field has no key"
        case .missingFieldValue: "a field has no value"
        case .invalidNumber: "a number cannot be read"
        case .numberOutOfRange: "a number is out of range"
        case .invalidValue: "a value is neither a number, a string, true nor false"
        case .unterminatedString: "a string has no end"
        case .unexpectedText: "there is unexpected text after a value"
        case .invalidTimestamp: "the timestamp is not a whole number"
        case .timestampOutOfRange: "the timestamp is out of range"
        case .overlongKey: "the series and a field's key are too long"
        case .overlongLine: "the line is too long"
        case .invalidUTF8: "the bytes are not valid UTF-8"
        }
    }
}
