import LoaderChain
import LoaderChainPlatformFoundation

/// Counts the reports that never arrived, until the server that they were for has been told.
///
/// The counts for a server go along with the next attempt there. They are crossed out when that is delivered, and stay otherwise.
struct DiscardLedger {
    /// What is counted together.
    struct Key: Hashable {
        let destination: UInt32
        let reason: String
        let kind: ReportKind
    }

    private(set) var counts: [Key: Int] = [:]
    /// What goes along with the attempts that are under way, by the sequence of the report.
    private var underWay: [UInt64: [Key: Int]] = [:]
    /// Whether it has changed since it was written down.
    private(set) var isDirty = false

    /// So many counts are kept; of more, the new ones are left out.
    static let mostCounts = 256
    /// More is not said in one header.
    static let longestText = 1_024

    mutating func note(_ reason: String, _ kind: ReportKind, for destination: UInt32, count: Int = 1) {
        let key = Key(destination: destination, reason: reason, kind: kind)
        guard counts[key] != nil || counts.count < Self.mostCounts else { return }
        let (sum, isTooMuch) = (counts[key] ?? 0).addingReportingOverflow(max(0, count))
        counts[key] = isTooMuch ? .max : sum
        isDirty = true
    }

    /// What an attempt says, such as `no-room;kind=crash;n=2, expired;kind=default;n=1`, the most first; nil if there is nothing to say.
    mutating func take(for destination: UInt32, by sequence: UInt64) -> String? {
        // Without an entry, which would be all that most attempts need this for.
        guard !counts.isEmpty else { return nil }
        let told = underWay.values.reduce(into: Set<Key>()) { $0.formUnion($1.keys) }
        let open = counts.filter { $0.key.destination == destination && !told.contains($0.key) }
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
    /// What is to be written down; nil if nothing has changed since the last time.
    mutating func takeChange() -> Data? {
        guard isDirty else { return nil }
        isDirty = false
        return encoded
    }

    mutating func wasNotWritten() { isDirty = true }

    private static let mark: UInt32 = 0x3244_434C  // LCD2

    /// As bytes, none if there is nothing to remember.
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

    /// Adds what was written down; false if it cannot be read.
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
    /// Whether a server is told: it was neither the app that did not want it any more, nor the user.
    var isDiscard: Bool {
        switch self {
        case .purged, .byHandler, .withoutConsent, .duplicate: false
        default: true
        }
    }
}

extension OutboxError.Code {
    /// What a server is told of a report that was not taken in; nil for what was the app's mistake or the user's wish.
    var discardReason: String? {
        switch self {
        case .boxFull: "box-full"
        case .tooLarge: "too-large"
        case .diskFull, .disk, .directory: "disk"
        default: nil
        }
    }
}
