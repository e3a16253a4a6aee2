import LoaderChain
import LoaderChainPlatformFoundation

/// The name of a report's file, which holds all that changes during the report's life.
///
///     0000000000000007-18cc251f400-18cc251f400-2-5f3a9c01-400-p-<identifier>.report
///     sequence         submitted   due         | destination  |  flags, and =kind
///                                              attempts       size
///
/// A rename is one step for every file system: there is no moment at which a report has half of its new state. And a box is
/// opened by listing its directory, without reading a single file.
struct RecordName: Hashable, Sendable {
    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        /// The bytes are in a file of the app's.
        static let keptOutside = Flags(rawValue: 1)
        /// The due time is one that the server asked for, and holds for everything that goes there.
        static let pausesDestination = Flags(rawValue: 2)
        static let low = Flags(rawValue: 4)
        static let high = Flags(rawValue: 8)

        /// The flag of a priority, if it has one.
        init(_ priority: ReportPriority) { self = priority == .high ? .high : priority == .low ? .low : [] }

        init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The place in the order of submission, over all launches.
    var sequence: UInt64
    /// When it was submitted, in milliseconds since 1970.
    var submittedMilliseconds: Int64
    /// When it may next be tried, in milliseconds since 1970.
    var dueMilliseconds: Int64
    /// How many attempts have begun and were not taken back.
    var attempts: UInt32
    /// Which server it goes to, as a digest of scheme, host and port.
    var destination: UInt32
    /// How many bytes the report has.
    var size: Int64
    var flags: Flags
    /// What it is, written behind the flags; nothing for one of the standard kind.
    var kind = ReportKind.standard
    var id: ReportID

    var submitted: Date { Date(timeIntervalSince1970: Double(submittedMilliseconds) / 1000) }
    var due: Date { Date(timeIntervalSince1970: Double(dueMilliseconds) / 1000) }

    /// How much it matters; a name that says both low and high is of no box, and counts as high.
    var priority: ReportPriority { Self.priority(of: flags) }

    static func priority(of flags: Flags) -> ReportPriority {
        flags.contains(.high) ? .high : flags.contains(.low) ? .low : .normal
    }

    static let suffix = ".report"
    /// What begins the name of a file that is not finished.
    static let temporaryPrefix = "tmp-"
    /// Larger numbers are not valid times, sizes or places in the order.
    private static let mostMilliseconds: UInt64 = 1 << 53
    private static let mostBytes: UInt64 = 1 << 53
    private static let mostSequence: UInt64 = 1 << 62

    /// Makes it due so long after a time in milliseconds since 1970; a millisecond that has begun counts.
    mutating func setDue(after wait: Duration, from now: Int64) {
        let (milliseconds, rest) = wait.saturatedNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        dueMilliseconds = max(0, now.addingClamped(milliseconds + (rest > 0 ? 1 : 0)))
    }

    /// The date as a name has it, within what a name can have.
    static func milliseconds(_ date: Date) -> Int64 {
        let milliseconds = date.timeIntervalSince1970 * 1000
        return milliseconds.isNaN ? 0 : Int64(min(max(0, milliseconds), Double(mostMilliseconds)))
    }
}

extension RecordName {
    /// The file's name.
    var text: String {
        var text: [UInt8] = []
        text.reserveCapacity(128)
        let dash = UInt8(ascii: "-")
        Hexadecimal.append(sequence, digits: 16, to: &text)
        text.append(dash)
        Hexadecimal.append(UInt64(clamping: submittedMilliseconds), to: &text)
        text.append(dash)
        Hexadecimal.append(min(UInt64(clamping: dueMilliseconds), Self.mostMilliseconds), to: &text)
        text.append(dash)
        Hexadecimal.append(UInt64(attempts), to: &text)
        text.append(dash)
        Hexadecimal.append(UInt64(destination), digits: 8, to: &text)
        text.append(dash)
        Hexadecimal.append(UInt64(clamping: size), to: &text)
        text.append(dash)
        if flags.isEmpty { text.append(UInt8(ascii: "0")) }
        if flags.contains(.keptOutside) { text.append(UInt8(ascii: "k")) }
        if flags.contains(.pausesDestination) { text.append(UInt8(ascii: "p")) }
        if flags.contains(.low) { text.append(UInt8(ascii: "l")) }
        if flags.contains(.high) { text.append(UInt8(ascii: "h")) }
        if kind != .standard {
            text.append(Self.kindMark)
            text += kind.name.utf8
        }
        text.append(dash)
        text += id.encoded.utf8
        text += Self.suffix.utf8
        return String(decoding: text, as: UTF8.self)
    }

    /// What a file's name says.
    enum Reading {
        /// All of it.
        case name(RecordName)
        /// All but the identifier; the name that is here has a digest in its place.
        case digested(RecordName)
        /// The file is not the box's.
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
            let idText = Substring(decoding: isDigested ? parts.rest.dropFirst() : parts.rest, as: UTF8.self)
            guard let id = ReportID(encoded: idText.utf8) else { return .foreign }
            let name = RecordName(
                sequence: sequence, submittedMilliseconds: Int64(submitted), dueMilliseconds: Int64(due),
                attempts: attempts, destination: destination, size: Int64(size), flags: flags, kind: kind,
                id: id)
            return isDigested ? .digested(name) : .name(name)
        }
    }

    private static let kindMark = UInt8(ascii: "=")
    private static let digestMark = ReportID.digestMark.asciiValue ?? 0

    /// The parts between the dashes, the first next.
    private struct Parts {
        var rest: Slice<UnsafeBufferPointer<UInt8>>

        mutating func next() -> Slice<UnsafeBufferPointer<UInt8>>? {
            guard let dash = rest.firstIndex(of: UInt8(ascii: "-")) else { return nil }
            defer { rest = rest[(dash + 1)...] }
            return rest[..<dash]
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
            for byte in part {
                switch byte {
                case UInt8(ascii: "0"): break
                case UInt8(ascii: "k"): flags.insert(.keptOutside)
                case UInt8(ascii: "p"): flags.insert(.pausesDestination)
                case UInt8(ascii: "l"): flags.insert(.low)
                case UInt8(ascii: "h"): flags.insert(.high)
                default: return nil
                }
            }
            return flags
        }
    }
}

/// The name of a report that was set aside: the one it had, and why.
struct AsideName: Hashable, Sendable {
    var name: RecordName
    /// The name of a ``ReportLoss``, in letters, digits and hyphens.
    let reason: String

    private static let longestReason = 40

    init(_ name: RecordName, because loss: ReportLoss) {
        self.init(name, reason: loss.name)
    }

    private init(_ name: RecordName, reason: String) {
        self.name = name
        self.reason = String(reason.unicodeScalars.filter(Self.isPlain).map(Character.init).prefix(Self.longestReason))
    }

    var text: String { name.text + "!" + reason }
    var path: String { ReportStore.asideFolder + "/" + text }

    /// What a file's name says, and whether the identifier is only a digest; nil if it is not the box's.
    static func read(_ text: String) -> (aside: AsideName, isDigested: Bool)? {
        guard let mark = text.lastIndex(of: "!") else { return nil }
        let reason = String(text[text.index(after: mark)...])
        let aside: AsideName
        let isDigested: Bool
        switch RecordName.read(String(text[..<mark])) {
        case .foreign: return nil
        case .name(let name): (aside, isDigested) = (AsideName(name, reason: reason), false)
        case .digested(let name): (aside, isDigested) = (AsideName(name, reason: reason), true)
        }
        return isDigested || aside.text == text ? (aside, isDigested) : nil
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "-" || "a"..."z" ~= scalar || "A"..."Z" ~= scalar || "0"..."9" ~= scalar
    }
}

extension Int64 {
    /// The sum, or the end of what can be counted.
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
