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
