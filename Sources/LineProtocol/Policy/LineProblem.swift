/// A problem of a point: something without an encoding that all servers understand the same way.
///
/// <doc:Policy> lists what the encoder does about each.
public enum LineProblem: String, Sendable, Hashable, Codable, CaseIterable {
    /// A control character or a line end in a measurement, a tag or a field's key.
    case controlCharacter
    /// A backslash in a name that servers read in different ways: doubled, at the end, or before `,`, `=`, `"` or a space.
    case ambiguousBackslash
    /// A measurement that begins with `#`, which would make the line a comment.
    case leadingHash
    /// A name that servers keep for themselves: `time`, or one that begins with `_`.
    case reservedName
    /// A measurement without a name.
    case emptyMeasurement
    /// A tag without a key.
    case emptyTagKey
    /// A tag without a value.
    case emptyTagValue
    /// A field without a key.
    case emptyFieldKey
    /// A second tag with the key of another.
    case duplicateTag
    /// A measurement and tags, or a field's key beside them, above ``LineEncoder/maximumKeyLength``.
    case overlongKey
    /// A string above ``LineEncoder/maximumStringLength``.
    case overlongString
    /// A line end in a string, which some servers take for the end of the line.
    case newlineInString
    /// A number that is infinite or NaN.
    case notFinite
    /// An unsigned number that a server without unsigned numbers cannot hold.
    case unsignedOverflow
    /// A time that no server can store.
    case timeOutOfRange
    /// A point without fields, or one whose fields all have problems.
    case noFields
}

extension LineProblem: CustomStringConvertible {
    /// The reason as a clause.
    public var description: String {
        switch self {
        case .controlCharacter: "a control character has no encoding in a name"
        case .ambiguousBackslash: "servers disagree about this backslash"
        case .leadingHash: "a line that begins with # is a comment"
        case .reservedName: "servers reserve this name"
        case .emptyMeasurement: "it is empty"
        case .emptyTagKey: "its key is empty"
        case .emptyTagValue: "its value is empty"
        case .emptyFieldKey: "its key is empty"
        case .duplicateTag: "there is another with this key"
        case .overlongKey: "the key is longer than \(LineLimits.key) bytes"
        case .overlongString: "the string is longer than \(LineLimits.string) bytes"
        case .newlineInString: "some servers end the line at a newline in a string"
        case .notFinite: "the number is not finite"
        case .unsignedOverflow: "the unsigned number does not fit a signed one"
        case .timeOutOfRange: "servers store times from 1677 to 2262"
        case .noFields: "there is no field to write"
        }
    }

    var index: Int { Self.indices[self] ?? 0 }

    private static let indices = Dictionary(uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) })
}

/// The reason why a point cannot be encoded strictly: a part, and its problem.
public struct LineEncodingError: Error, Sendable, Hashable {
    /// A part of a point.
    public enum Part: Sendable, Hashable {
        /// The measurement, by its name.
        case measurement(String)
        /// A tag, by its key.
        case tag(String)
        /// A field, by its key.
        case field(String)
        /// The time.
        case timestamp
        /// The point as a whole.
        case point
    }

    /// The part of the point.
    public var part: Part
    /// What is wrong with it.
    public var code: LineProblem

    /// Names a part and what is wrong with it.
    public init(_ part: Part, _ code: LineProblem) {
        self.part = part
        self.code = code
    }

    /// What is wrong, as a clause.
    public var reason: String { code.description }
}

extension LineEncodingError: CustomStringConvertible {
    /// The part and the reason, such as `tag "host": its value is empty`.
    public var description: String { "\(part): \(reason)" }
}

extension LineEncodingError.Part: CustomStringConvertible {
    /// The part with its name, escaped, and truncated if it is very long.
    public var description: String {
        switch self {
        case .measurement(let name): "measurement \(Self.quoted(name))"
        case .tag(let key): "tag \(Self.quoted(key))"
        case .field(let key): "field \(Self.quoted(key))"
        case .timestamp: "timestamp"
        case .point: "point"
        }
    }

    private static func quoted(_ name: String) -> String {
        let longest = 80
        let shown = String(name.unicodeScalars.prefix(longest))
        return shown.debugDescription + (shown.unicodeScalars.count < name.unicodeScalars.count ? "…" : "")
    }
}
