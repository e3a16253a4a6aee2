import LoaderChain
import LoaderChainPlatformFoundation

/// The name of a report's file, which holds everything that changes during the report's life.
///
///     0000000000000007-18cc251f400-18cc251f400-2-5f3a9c01-400-p-<identifier>.report
///     sequence         submitted   due         | destination  |  flags, and =kind
///                                              attempts       size
///
/// A rename is atomic on every file system: a report never has half of a new state. And opening an outbox only lists its directory,
/// without reading a file.
struct RecordName: Hashable, Sendable {
    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        /// The bytes are in a file that the app keeps.
        static let keptOutside = Flags(rawValue: 1)
        /// The server asked for the due time, which applies to all reports for it.
        static let pausesDestination = Flags(rawValue: 2)
        static let low = Flags(rawValue: 4)
        static let high = Flags(rawValue: 8)

        /// The flag of a priority; empty for the normal priority.
        init(_ priority: ReportPriority) { self = priority == .high ? .high : priority == .low ? .low : [] }

        init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The position in the order of submission, over all launches.
    var sequence: UInt64
    /// The date of submission, in milliseconds since 1970.
    var submittedMilliseconds: Int64
    /// The date from which the report can be sent, in milliseconds since 1970.
    var dueMilliseconds: Int64
    /// The number of started attempts that count.
    var attempts: UInt32
    /// The server, as a digest of scheme, host and port.
    var destination: UInt32
    /// The size of the report in bytes.
    var size: Int64
    var flags: Flags
    /// The kind, written after the flags; the standard kind is not written.
    var kind = ReportKind.standard
    var id: ReportID

    var submitted: Date { Date(timeIntervalSince1970: Double(submittedMilliseconds) / 1000) }
    var due: Date { Date(timeIntervalSince1970: Double(dueMilliseconds) / 1000) }

    /// The priority; a name with both flags was not written by an outbox, and counts as high.
    var priority: ReportPriority { Self.priority(of: flags) }

    static func priority(of flags: Flags) -> ReportPriority {
        flags.contains(.high) ? .high : flags.contains(.low) ? .low : .normal
    }

    static let suffix = ".report"
    static let temporaryPrefix = "tmp-"
    /// The largest valid times, sizes and sequences.
    private static let mostMilliseconds: UInt64 = 1 << 53
    private static let mostBytes: UInt64 = 1 << 53
    private static let mostSequence: UInt64 = 1 << 62

    /// Sets the due date, relative to a date in milliseconds since 1970; fractions are rounded up.
    mutating func setDue(after wait: Duration, from now: Int64) {
        let (milliseconds, rest) = wait.saturatedNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        dueMilliseconds = max(0, now.addingClamped(milliseconds + (rest > 0 ? 1 : 0)))
    }

    /// Converts a date to milliseconds, clamped to the valid range.
    static func milliseconds(_ date: Date) -> Int64 {
        let milliseconds = date.timeIntervalSince1970 * 1000
        return milliseconds.isNaN ? 0 : Int64(min(max(0, milliseconds), Double(mostMilliseconds)))
    }
}

extension RecordName {
    /// The file name.
    var text: String {
        var text: [UInt8] = []
        text.reserveCapacity(128)
        func append(_ number: UInt64, digits: Int = 1) {
            Hexadecimal.append(number, digits: digits, to: &text)
            text.append(Self.dash)
        }
        append(sequence, digits: 16)
        append(UInt64(clamping: submittedMilliseconds))
        append(min(UInt64(clamping: dueMilliseconds), Self.mostMilliseconds))
        append(UInt64(attempts))
        append(UInt64(destination), digits: 8)
        append(UInt64(clamping: size))
        if flags.isEmpty { text.append(Self.noFlags) }
        for (letter, flag) in Self.flagLetters where flags.contains(flag) { text.append(letter) }
        if kind != .standard {
            text.append(Self.kindMark)
            text += kind.name.utf8
        }
        text.append(Self.dash)
        text += id.encoded.utf8
        text += Self.suffix.utf8
        return String(decoding: text, as: UTF8.self)
    }

    enum Reading {
        case name(RecordName)
        /// A name with a hash instead of the identifier; the `id` of this name is the hash.
        case digested(RecordName)
        case foreign
    }

    static func read(_ text: String) -> Reading {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count > suffix.utf8.count, bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else {
                return .foreign
            }
            var parts = Parts(rest: bytes.dropLast(suffix.utf8.count))
            guard let sequence = parts.number(), sequence <= mostSequence,
                let submitted = parts.number(), submitted <= mostMilliseconds,
                let due = parts.number(), due <= mostMilliseconds,
                let attempts = parts.number().flatMap(UInt32.init(exactly:)),
                let destination = parts.number().flatMap(UInt32.init(exactly:)),
                let size = parts.number(), size <= mostBytes,
                let (flags, kind) = parts.flagsAndKind()
            else { return .foreign }
            let isDigested = parts.rest.first == digestMark
            let idText = String(decoding: isDigested ? parts.rest.dropFirst() : parts.rest, as: UTF8.self)
            guard let id = ReportID(encoded: idText) else { return .foreign }
            let name = RecordName(
                sequence: sequence, submittedMilliseconds: Int64(submitted), dueMilliseconds: Int64(due),
                attempts: attempts, destination: destination, size: Int64(size), flags: flags, kind: kind,
                id: id)
            return isDigested ? .digested(name) : .name(name)
        }
    }

    private static let dash = UInt8(ascii: "-")
    private static let noFlags = UInt8(ascii: "0")
    private static let flagLetters: [(letter: UInt8, flag: Flags)] = [
        (UInt8(ascii: "k"), .keptOutside), (UInt8(ascii: "p"), .pausesDestination), (UInt8(ascii: "l"), .low),
        (UInt8(ascii: "h"), .high),
    ]
    private static let kindMark = UInt8(ascii: "=")
    private static let digestMark = ReportID.digestMark.asciiValue ?? 0

    /// The parts between the dashes, in order.
    private struct Parts {
        var rest: Slice<UnsafeBufferPointer<UInt8>>

        mutating func next() -> Slice<UnsafeBufferPointer<UInt8>>? {
            guard let end = rest.firstIndex(of: dash) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return rest[..<end]
        }

        mutating func number() -> UInt64? {
            next().flatMap { Hexadecimal.value(of: UnsafeBufferPointer(rebasing: $0)) }
        }

        mutating func flagsAndKind() -> (Flags, ReportKind)? {
            guard let part = next(), !part.isEmpty else { return nil }
            let mark = part.firstIndex(of: kindMark)
            guard let flags = Self.flags(mark.map { part[..<$0] } ?? part) else { return nil }
            guard let mark else { return (flags, .standard) }
            let name = String(decoding: part[(mark + 1)...], as: UTF8.self)
            let kind = ReportKind(name)
            return kind.name == name && kind != .standard ? (flags, kind) : nil
        }

        private static func flags(_ part: Slice<UnsafeBufferPointer<UInt8>>) -> Flags? {
            var flags: Flags = []
            for byte in part where byte != noFlags {
                guard let (_, flag) = flagLetters.first(where: { $0.letter == byte }) else { return nil }
                flags.insert(flag)
            }
            return flags
        }
    }
}

/// The name of a dead letter: the name of the report, and the reason.
struct DeadLetterName: Hashable, Sendable {
    var name: RecordName
    /// The name of a ``ReportLoss``, in letters, digits and hyphens.
    let reason: String

    private static let longestReason = 40
    private static let plain = ASCIISet(ASCIISet.alphanumerics + "-")

    init(_ name: RecordName, because loss: ReportLoss) {
        self.init(name, reason: loss.name)
    }

    private init(_ name: RecordName, reason: String) {
        self.name = name
        let plain = reason.utf8.filter(Self.plain.contains)
        self.reason = String(decoding: plain.prefix(Self.longestReason), as: UTF8.self)
    }

    var text: String { name.text + "!" + reason }
    var path: String { ReportStore.deadLetterFolder + "/" + text }

    /// Parses a file name, and returns whether its identifier is a hash; nil for a foreign file.
    static func read(_ text: String) -> (deadLetter: DeadLetterName, isDigested: Bool)? {
        guard let mark = text.lastIndex(of: "!") else { return nil }
        let reason = String(text[text.index(after: mark)...])
        let deadLetter: DeadLetterName
        let isDigested: Bool
        switch RecordName.read(String(text[..<mark])) {
        case .foreign: return nil
        case .name(let name): (deadLetter, isDigested) = (DeadLetterName(name, reason: reason), false)
        case .digested(let name): (deadLetter, isDigested) = (DeadLetterName(name, reason: reason), true)
        }
        return isDigested || deadLetter.text == text ? (deadLetter, isDigested) : nil
    }
}
