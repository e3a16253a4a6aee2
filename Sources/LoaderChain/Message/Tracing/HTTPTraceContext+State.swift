extension HTTPTraceContext {
    /// What tracing systems say to themselves along the way: the header `tracestate` (W3C Trace Context, level 2).
    ///
    /// Each system has a key of its own. One that changes its value puts it first; all others pass unchanged.
    public struct State: Hashable, Sendable {
        /// The entries, the one that was changed last first.
        public private(set) var entries: [Entry] = []

        /// A key with its value.
        public struct Entry: Hashable, Sendable {
            /// The name of a tracing system.
            public let key: String
            /// What it says to itself.
            public let value: String
        }

        /// Makes a state without entries.
        public init() {}

        /// Reads `tracestate`, which may stand in several lines; empty where any of it is not valid.
        public init(_ headers: HTTPHeaders) {
            var entries: [Entry] = []
            for line in headers.values(for: Self.fieldName) {
                for member in line.utf8.split(separator: UInt8(ascii: ",")) {
                    let member = ASCII.trimmed(member)
                    if member.isEmpty { continue }
                    guard let entry = Entry(member) else { return }
                    // Of two with one key, the first was written last.
                    if !entries.contains(where: { $0.key == entry.key }) { entries.append(entry) }
                    guard entries.count <= Self.greatestCount else { return }
                }
            }
            self.entries = entries
        }

        /// The value of a key; nil if there is none.
        public subscript(key: String) -> String? { entries.first { $0.key == key }?.value }

        /// Puts an entry first, and drops the last one of more than 32.
        ///
        /// - Parameters:
        ///   - key: up to 256 of the characters `a-z0-9_*/@-`; a letter or a digit comes first.
        ///   - value: 1 to 256 printable ASCII characters, no comma and no equals sign; the last is no space.
        /// - Returns: whether the key and the value are valid; otherwise nothing changes.
        @discardableResult
        public mutating func set(_ key: String, to value: String) -> Bool {
            guard let entry = Entry(key, value) else { return false }
            remove(key)
            entries.insert(entry, at: 0)
            if entries.count > Self.greatestCount { entries.removeLast() }
            return true
        }

        /// Removes the entry of a key.
        public mutating func remove(_ key: String) { entries.removeAll { $0.key == key } }

        static let fieldName = "tracestate"
        private static let greatestCount = 32
        /// What every system along the way has to pass.
        private static let greatestLength = 512
        /// Entries longer than this are the first to go.
        private static let usualLength = 128

        /// The value of the header; nil without entries.
        ///
        /// A long one loses whole entries: first the last of those that are long themselves, then the last ones.
        var fieldValue: String? {
            var kept = entries
            while kept.reduce(kept.count - 1, { $0 + $1.length }) > Self.greatestLength {
                kept.remove(at: kept.lastIndex { $0.length > Self.usualLength } ?? kept.count - 1)
            }
            return kept.isEmpty ? nil : kept.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        }
    }
}

extension HTTPTraceContext.State.Entry {
    private static let keyStart = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789")
    private static let keyBytes = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_-*/@")

    /// Nil for a key or a value that the grammar does not allow.
    fileprivate init?(_ key: String, _ value: String) {
        guard 1...256 ~= key.utf8.count, 1...256 ~= value.utf8.count,
            key.utf8.first.map(Self.keyStart.contains) ?? false, key.utf8.allSatisfy(Self.keyBytes.contains),
            value.utf8.allSatisfy({
                ASCII.space..<ASCII.delete ~= $0 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
            }), value.utf8.last != ASCII.space
        else { return nil }
        self.key = key
        self.value = value
    }

    /// Reads `key=value`.
    fileprivate init?(_ member: some Collection<UInt8>) {
        guard let sign = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        self.init(
            String(decoding: member[..<sign], as: UTF8.self),
            String(decoding: member[sign...].dropFirst(), as: UTF8.self))
    }

    /// How many characters the entry takes in the header.
    fileprivate var length: Int { key.utf8.count + 1 + value.utf8.count }
}
