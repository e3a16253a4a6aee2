import LoaderChain

/// The identifier of a report, in the outbox, in events, and for the server.
///
/// Every attempt sends it in `Idempotency-Key`, so that a server can recognize a repeated report. Choose an identifier that is
/// unique among all reports of all your users, such as a UUID, or a digest of the report's bytes.
///
/// It can be any text of up to 1,000 bytes. Texts with different bytes are different identifiers, even if they look the same.
public struct ReportID: Hashable, Sendable {
    /// The text of the identifier.
    public let rawValue: String

    /// The maximum length in bytes of UTF-8.
    package static let maximumLength = 1_000

    /// Creates an identifier from a text; nil if the text is empty or too long.
    public init?(_ text: String) {
        guard 1...Self.maximumLength ~= text.utf8.count else { return nil }
        rawValue = text
    }

    /// The value of `Idempotency-Key`: the identifier, with everything but letters, digits and `-_.` percent-encoded.
    ///
    /// Identifiers that are too long for a header are hashed.
    public var idempotencyKey: String { encoded }
}

/// Identifiers are compared by their bytes, because the same text can be encoded in several ways.
extension ReportID {
    /// Returns whether two identifiers have the same bytes.
    public static func == (one: ReportID, other: ReportID) -> Bool {
        one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = rawValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ReportID: CustomStringConvertible {
    /// The ``idempotencyKey``.
    public var description: String { encoded }
}

extension ReportID {
    /// The prefix of a hashed identifier.
    static let digestMark: Character = "~"
    private static let longestWrittenOut = 120

    /// The identifier as a part of a file name, without characters that are special to a file system.
    var encoded: String {
        let encoded = PercentEncoding.fileName.encode(rawValue)
        if encoded.utf8.count <= Self.longestWrittenOut { return encoded }
        return String(Self.digestMark) + SHA256.name(of: rawValue.utf8)
    }

    /// Decodes the identifier from a part of a file name; nil if the part is invalid or a hash.
    init?(encoded: String) {
        guard let text = PercentEncoding.fileName.decodeEncoded(encoded) else { return nil }
        self.init(text)
    }
}

/// The kind of a report, such as a crash or a session.
///
/// ```swift
/// try outbox.submit(data, request: request, kind: ReportKind("crash"))
/// ```
///
/// A server can limit reports by kind, and gets the counts of lost reports by kind; see ``OutboxSettings/limitsHeader`` and
/// ``OutboxSettings/discardedHeader``. A report without a kind has the kind ``standard``. The kind is part of the file name, and is
/// not sealed.
public struct ReportKind: Hashable, Sendable {
    /// The name, consisting of letters, digits, underscores and dots.
    public let name: String

    /// The kind of a report that has no other kind.
    public static let standard = ReportKind("default")

    /// The maximum length of a name in bytes, because file names have a maximum length.
    package static let maximumLength = 16

    /// Creates a kind.
    ///
    /// Invalid characters become underscores, and a name that is too long is truncated.
    public init(_ name: String) {
        let bytes = name.utf8.prefix(Self.maximumLength).map { Self.plain.contains($0) ? $0 : UInt8(ascii: "_") }
        self.name = bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }

    private static let plain = ASCIISet(ASCIISet.alphanumerics + "_.")
}

extension ReportKind: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

/// The priority of a report, such as that of a crash above that of a warning.
///
/// Of the reports that are due, those with the highest priority are sent first. An outbox that drops the oldest reports evicts
/// those with the lowest priority first, and never evicts a report for one with a lower priority.
public struct ReportPriority: Hashable, Comparable, Sendable {
    /// The rank, from 0 for the lowest priority.
    let rank: Int

    /// For reports that may be late or lost, such as warnings or usage reports.
    public static let low = ReportPriority(rank: 0)
    /// The default priority.
    public static let normal = ReportPriority(rank: 1)
    /// For reports that are sent first, such as crashes.
    public static let high = ReportPriority(rank: 2)

    /// All priorities, the lowest first.
    static let all = [low, normal, high]

    /// Returns whether the first priority is lower than the second.
    public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}

extension ReportPriority: CustomStringConvertible {
    /// The name: low, normal or high.
    public var description: String { ["low", "normal", "high"][rank] }
}
