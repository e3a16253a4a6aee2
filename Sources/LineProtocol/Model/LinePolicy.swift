/// The extensions of the portable syntax that the target servers understand.
public struct LineDialect: Sendable, Hashable {
    /// Whether a string keeps its newlines.
    ///
    /// InfluxDB accepts them. Other servers end the line there, so a newline in a string from an untrusted source could inject a
    /// line. If this is false, a newline is written as the two characters `\n`.
    public var keepsNewlines: Bool

    /// Whether unsigned numbers are written with the suffix `u`.
    ///
    /// Servers before InfluxDB 2 reject them. If this is false, they are written as integers, and dropped if they are too large.
    public var writesUnsigned: Bool

    /// Creates a dialect.
    public init(keepsNewlines: Bool = false, writesUnsigned: Bool = false) {
        self.keepsNewlines = keepsNewlines
        self.writesUnsigned = writesUnsigned
    }

    /// The syntax that every server understands.
    public static let portable = LineDialect()

    /// The dialect of InfluxDB 1: newlines in strings.
    public static let influxDB1 = LineDialect(keepsNewlines: true)

    /// The dialect of InfluxDB 2 and 3: newlines in strings, and unsigned numbers.
    public static let influxDB2 = LineDialect(keepsNewlines: true, writesUnsigned: true)
}

/// A problem of a point: a part without an encoding that all servers understand in the same way.
///
/// <doc:Policy> lists how the encoder handles each.
public enum LineProblem: String, Sendable, Hashable, CaseIterable {
    /// A control character or a newline in a measurement, a tag or a field's key.
    case controlCharacter
    /// A backslash in a name that servers interpret in different ways: doubled, at the end, or before `,`, `=`, `"` or a space.
    case ambiguousBackslash
    /// A measurement that begins with `#`, which would make the line a comment.
    case leadingHash
    /// A name that servers reserve: `time`, or a name that begins with `_`.
    case reservedName
    /// An empty measurement.
    case emptyMeasurement
    /// A tag without a key.
    case emptyTagKey
    /// A tag without a value.
    case emptyTagValue
    /// A field without a key.
    case emptyFieldKey
    /// A second tag with the same key.
    case duplicateTag
    /// A measurement, tags and a field's key longer than 65,535 bytes in total, including the four bytes that join them.
    case overlongKey
    /// A string longer than 65,536 bytes.
    case overlongString
    /// A newline in a string, which some servers interpret as the end of the line.
    case newlineInString
    /// A number that is infinite or NaN.
    case notFinite
    /// An unsigned number that is too large for a server without unsigned numbers.
    case unsignedOverflow
    /// A time that no server can store.
    case timeOutOfRange
    /// A point without fields, or whose fields all have problems.
    case noFields
}

/// The numbers of repairs by problem, and of dropped points.
///
/// ```swift
/// var encoder = LineEncoder()
/// encoder.append(Point("queue", tags: ["host": ""], fields: ["length": 3]))
/// print(encoder.repairs[.emptyTagValue])  // 1
/// ```
public struct Repairs: Sendable, Hashable {
    /// The counts without zeros, so that values with equal counts are equal.
    private var counts: [LineProblem: Int] = [:]

    /// The number of points that were dropped because nothing could be encoded.
    public internal(set) var droppedPoints = 0

    package init() {}

    /// The number of repairs of a problem.
    public internal(set) subscript(problem: LineProblem) -> Int {
        get { counts[problem] ?? 0 }
        set { counts[problem] = newValue == 0 ? nil : newValue }
    }

    /// The number of repairs of all problems.
    public var total: Int { counts.values.reduce(0, +) }

    /// Whether nothing was repaired or dropped.
    public var isEmpty: Bool { droppedPoints == 0 && counts.isEmpty }

    package static func += (repairs: inout Repairs, others: Repairs) {
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

/// The maximum lengths that every server accepts, in bytes.
enum LineLimits {
    /// Of the measurement, the tags, one field's key, and the four bytes that join them.
    static let key = 65_535
    static let string = 65_536
}
