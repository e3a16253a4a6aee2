/// The reason why a line cannot be read, and its place in the text.
public struct LineDecodingError: Error, Sendable, Hashable {
    /// What is wrong with a line.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The measurement is empty.
        case missingMeasurement = "the measurement is empty"
        /// A tag has no key.
        case missingTagKey = "a tag has no key"
        /// A tag has no value.
        case missingTagValue = "a tag has no value"
        /// A tag's value contains an unescaped `=`.
        case invalidTagFormat = "a tag's value contains an unescaped ="
        /// Two tags have the same key.
        case duplicateTag = "two tags have the same key"
        /// A tag has the key `time`.
        case reservedTag = "a tag cannot have the key time"
        /// The line ends before the fields.
        case missingFields = "there are no fields"
        /// A field has no key.
        case missingFieldKey = "a field has no key"
        /// A field has no value.
        case missingFieldValue = "a field has no value"
        /// A number cannot be read.
        case invalidNumber = "a number cannot be read"
        /// An integer does not fit into 64 bits, or a double is larger than the largest finite double.
        case numberOutOfRange = "a number is out of range"
        /// A value is not a number, a string, true or false.
        case invalidValue = "a value is neither a number, a string, true nor false"
        /// A string has no end.
        case unterminatedString = "a string has no end"
        /// There is text between a value and the next comma or space.
        case unexpectedText = "there is unexpected text after a value"
        /// The timestamp is not a whole number.
        case invalidTimestamp = "the timestamp is not a whole number"
        /// The timestamp is outside the range that servers can store.
        case timestampOutOfRange = "the timestamp is out of range"
        /// The series and a field's key are longer than 65,535 bytes in total, including the four bytes that join them.
        case overlongKey = "the series and a field's key are too long"
        /// The line exceeds the decoder's maximum length.
        case overlongLine = "the line is too long"
        /// The bytes are not UTF-8.
        case invalidUTF8 = "the bytes are not valid UTF-8"
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
    public var description: String { rawValue }
}
