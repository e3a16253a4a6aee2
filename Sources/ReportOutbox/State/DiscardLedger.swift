import LoaderChain
import LoaderChainPlatformFoundation

/// Counts the lost reports, until their server has received the counts.
///
/// The next attempt to a server carries the counts for it. They are subtracted when that attempt is delivered, and kept otherwise.
struct DiscardLedger {
    /// The properties by which reports are counted.
    struct Key: Hashable {
        let destination: UInt32
        let reason: String
        let kind: ReportKind
    }

    private(set) var counts: [Key: Int] = [:]
    /// The counts that attempts under way carry, by the sequence of the report.
    private var underWay: [UInt64: [Key: Int]] = [:]
    /// Whether the counts have changed since they were saved.
    private(set) var isDirty = false

    /// The maximum number of counts; further ones are ignored.
    static let mostCounts = 256
    /// The maximum length of the header.
    static let longestText = 1_024

    mutating func note(_ reason: String, _ kind: ReportKind, for destination: UInt32, count: Int = 1) {
        let key = Key(destination: destination, reason: reason, kind: kind)
        guard counts[key] != nil || counts.count < Self.mostCounts else { return }
        counts[key] = (counts[key] ?? 0).addingClamped(max(0, count))
        isDirty = true
    }

    /// Takes the counts for an attempt, such as `no-room;kind=crash;n=2, expired;kind=default;n=1`, the largest first; nil for
    /// none.
    mutating func take(for destination: UInt32, by sequence: UInt64) -> String? {
        // Most attempts end here, without an entry in `underWay`.
        guard !counts.isEmpty else { return nil }
        let carried = underWay.values.reduce(into: Set<Key>()) { $0.formUnion($1.keys) }
        let open = counts.filter { $0.key.destination == destination && !carried.contains($0.key) }
        var text = ""
        var taken: [Key: Int] = [:]
        for (key, count) in open.sorted(by: { ($1.value, $0.key.text) < ($0.value, $1.key.text) }) {
            let part = "\(text.isEmpty ? "" : ", ")\(key.text);n=\(count)"
            guard text.utf8.count + part.utf8.count <= Self.longestText else { break }
            text += part
            taken[key] = count
        }
        guard !taken.isEmpty else { return nil }
        underWay[sequence] = taken
        return text
    }

    mutating func ended(_ sequence: UInt64, wasDelivered: Bool) {
        guard let taken = underWay.removeValue(forKey: sequence), wasDelivered else { return }
        for (key, count) in taken {
            guard let open = counts[key] else { continue }
            counts[key] = open > count ? open - count : nil
        }
        isDirty = true
    }

    mutating func clear() {
        isDirty = isDirty || !counts.isEmpty
        counts = [:]
        underWay = [:]
    }
}

extension DiscardLedger.Key {
    fileprivate var text: String { "\(reason);kind=\(kind)" }
}

// MARK: On the disk

extension DiscardLedger {
    /// The counts to save; nil if nothing has changed since the last time.
    mutating func takeChange() -> Data? {
        guard isDirty else { return nil }
        isDirty = false
        return encoded
    }

    mutating func wasNotWritten() { isDirty = true }

    private static let mark: UInt32 = 0x3244_434C  // LCD2

    /// The counts as bytes; empty without counts.
    private var encoded: Data {
        guard !counts.isEmpty else { return Data() }
        var content = ByteWriter()
        for (key, count) in counts {
            content.append(key.destination)
            content.append(key.reason)
            content.append(key.kind.name)
            content.append(UInt64(count))
        }
        var writer = ByteWriter()
        writer.append(Self.mark)
        writer.append(CRC32C.value(of: content.bytes))
        return writer.bytes + content.bytes
    }

    /// Adds saved counts; returns false if they cannot be read.
    mutating func add(_ encoded: Data) -> Bool {
        var reader = ByteReader(encoded)
        guard reader.number(UInt32.self) == Self.mark, let checksum = reader.number(UInt32.self),
            CRC32C.value(of: Data(encoded.dropFirst(8))) == checksum
        else { return false }
        while !reader.isAtEnd {
            guard let destination = reader.number(UInt32.self), let reason = reader.text(), let kind = reader.text(),
                let count = reader.number(UInt64.self)
            else { return false }
            note(reason, ReportKind(kind), for: destination, count: Int(clamping: count))
        }
        return true
    }
}

extension ReportLoss {
    /// Whether the loss is reported to the server: neither the app nor the user removed the report.
    var isDiscard: Bool {
        switch self {
        case .purged, .byHandler, .withoutConsent, .duplicate: false
        case .refused, .failed, .expired, .tooManyAttempts, .noRoom, .damaged, .sealed, .missingFile: true
        }
    }
}

extension OutboxError.Code {
    /// The reason that is reported to the server for a rejected submission; nil for a mistake of the app or a decision of the user.
    var discardReason: String? {
        switch self {
        case .full: "box-full"
        case .tooLarge: "too-large"
        case .diskFull, .disk, .directory: "disk"
        default: nil
        }
    }
}
