/// What the target servers understand beyond the portable syntax.
public struct LineDialect: Sendable, Hashable {
    /// Whether a string keeps its line ends.
    ///
    /// InfluxDB reads them. Other servers end the line there, so a line end in a string from an untrusted source
    /// could inject a line. Unless this is set, a line end is written as the two characters `\n`.
    public var keepsNewlines: Bool

    /// Whether unsigned numbers are written as such, with a `u`.
    ///
    /// Servers before InfluxDB 2 refuse them. Unless this is set, they are written as integers, and left out if they are
    /// too large for one.
    public var writesUnsigned: Bool

    /// Names what the servers understand.
    public init(keepsNewlines: Bool = false, writesUnsigned: Bool = false) {
        self.keepsNewlines = keepsNewlines
        self.writesUnsigned = writesUnsigned
    }

    /// What every server understands.
    public static let portable = LineDialect()

    /// What InfluxDB 1 understands: line ends in strings.
    public static let influxDB1 = LineDialect(keepsNewlines: true)

    /// What InfluxDB 2 and 3 understand: line ends in strings, and unsigned numbers.
    public static let influxDB2 = LineDialect(keepsNewlines: true, writesUnsigned: true)
}

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

/// The number of repairs by problem, and of points that were left out.
///
/// ```swift
/// var encoder = LineEncoder()
/// encoder.append(Point("queue", tags: ["host": ""], fields: ["length": 3]))
/// print(encoder.repairs[.emptyTagValue])  // 1
/// ```
public struct Repairs: Sendable, Hashable {
    /// No count is zero, so that equal counts are equal.
    private var counts: [LineProblem: Int] = [:]

    /// The number of points that were left out because none of their fields could be encoded.
    public internal(set) var droppedPoints = 0

    /// No repairs.
    public init() {}

    /// How often a problem was met.
    public internal(set) subscript(problem: LineProblem) -> Int {
        get { counts[problem] ?? 0 }
        set { counts[problem] = newValue == 0 ? nil : newValue }
    }

    /// How many problems were met in all.
    public var total: Int { counts.values.reduce(0, +) }

    /// Whether nothing was repaired and nothing left out.
    public var isEmpty: Bool { droppedPoints == 0 && counts.isEmpty }

    /// Adds the counts of others.
    public static func += (repairs: inout Repairs, others: Repairs) {
        repairs.counts.merge(others.counts, uniquingKeysWith: +)
        repairs.droppedPoints += others.droppedPoints
    }
}

extension Repairs: CustomStringConvertible {
    /// The counts above zero, such as `emptyTagValue: 1, dropped points: 2`.
    public var description: String {
        var parts = LineProblem.allCases.filter { self[$0] > 0 }.map { "\($0.rawValue): \(self[$0])" }
        if droppedPoints > 0 { parts.append("dropped points: \(droppedPoints)") }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

/// The lengths that no server exceeds; ``LineEncoder`` says what they are about.
enum LineLimits {
    static let key = 65_535
    static let string = 65_536
}
