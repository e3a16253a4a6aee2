import LoaderChain

/// What a report is known by: in the box, in events, and to the server.
///
/// It goes along with every attempt, in `Idempotency-Key`, so that a server can tell a repeated report from a new one. Choose
/// an identifier that no other report of any of your users has, such as a UUID, or a digest of the report's bytes.
///
/// Any text of up to 1,000 bytes will do. Two texts of different bytes are two identifiers, even where
/// they look the same.
public struct ReportID: Hashable, Sendable {
    /// The identifier as it was given.
    public let rawValue: String

    /// The most bytes that an identifier may have in UTF-8.
    public static let longest = 1_000

    /// An identifier of the app's own; nil if it is empty or too long.
    public init?(_ text: String) {
        guard 1...Self.longest ~= text.utf8.count else { return nil }
        rawValue = text
    }

    /// What goes over the wire in `Idempotency-Key`: the identifier, percent-encoded but for letters, digits and `-_.`.
    ///
    /// Of one that is longer than a header ought to be it is a digest.
    public var idempotencyKey: String { encoded }
}

/// Two identifiers are the same if their bytes are: text that looks the same may be written in more than one way.
extension ReportID {
    /// Whether the bytes are the same.
    public static func == (one: ReportID, other: ReportID) -> Bool {
        one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    /// Feeds the bytes to a hasher.
    public func hash(into hasher: inout Hasher) {
        var text = rawValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ReportID: CustomStringConvertible {
    /// The identifier in the form that goes over the wire.
    public var description: String { encoded }
}

extension ReportID {
    /// What begins the name of an identifier that is too long to be written out.
    static let digestMark: Character = "~"
    private static let longestWrittenOut = 120

    /// The identifier as a part of a file's name, which leads nowhere and means nothing to any file system.
    var encoded: String {
        let plain = rawValue.utf8.allSatisfy(Self.isPlain)
        if plain, rawValue.utf8.count <= Self.longestWrittenOut { return rawValue }
        var bytes: [UInt8] = []
        for byte in rawValue.utf8 {
            if Self.isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                Hexadecimal.append(UInt64(byte), digits: 2, to: &bytes)
            }
        }
        if bytes.count <= Self.longestWrittenOut { return String(decoding: bytes, as: UTF8.self) }
        return String(Self.digestMark) + SHA256.name(of: rawValue.utf8)
    }

    /// The identifier of a part of a file's name; nil if it is not one, or only a digest.
    init?(encoded: Substring.UTF8View) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(ASCII.hexadecimalValue),
                    let low = rest.popFirst().flatMap(ASCII.hexadecimalValue)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                guard Self.isPlain(byte) else { return nil }
                bytes.append(byte)
            }
        }
        // Bytes that are not UTF-8 would be repaired, and then be another identifier.
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(text)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// What a report is, such as a crash or a session.
///
/// ```swift
/// try outbox.submit(data, request: request, kind: ReportKind("crash"))
/// ```
///
/// A server may limit reports by kind, and is told by kind what was discarded; see ``OutboxSettings/limitsHeader`` and
/// ``OutboxSettings/discardedHeader``. A report without one is of the kind ``standard``. The kind is part of the name of the report's file,
/// and not sealed.
public struct ReportKind: Hashable, Sendable {
    /// The name, in letters, digits, underscores and dots.
    public let name: String

    /// What a report is that has no other kind.
    public static let standard = ReportKind("default")

    /// The most bytes of a name, since names of files are bounded.
    public static let longest = 16

    /// Makes a kind of a name; a character that it cannot have becomes an underscore, and what is too long is left out.
    public init(_ name: String) {
        let bytes = name.utf8.prefix(Self.longest).map { Self.isPlain($0) ? $0 : UInt8(ascii: "_") }
        self.name = bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension ReportKind: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

/// How much a report matters beside others, such as a crash beside a warning.
///
/// Of the reports that are due, the most important is sent first. A box that drops the oldest lets the least important go first,
/// and none for one that matters less.
public struct ReportPriority: Hashable, Comparable, Sendable {
    /// Its place among all, from 0 for the least important.
    let rank: Int

    /// What may come late or go, such as a warning or a usage report.
    public static let low = ReportPriority(rank: 0)
    /// What has no other priority.
    public static let normal = ReportPriority(rank: 1)
    /// What comes first, such as a crash.
    public static let high = ReportPriority(rank: 2)

    /// All of them, the least important first.
    static let all = [low, normal, high]

    /// Whether one matters less than another.
    public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}

extension ReportPriority: CustomStringConvertible {
    /// The name: low, normal or high.
    public var description: String { ["low", "normal", "high"][rank] }
}
