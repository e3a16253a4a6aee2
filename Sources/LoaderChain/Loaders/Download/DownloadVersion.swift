import LoaderChainPlatformFoundation

/// A version of a file on a server, as its responses describe it.
struct DownloadVersion: Hashable, Sendable, Codable {
    /// The strong entity tag, as it was received.
    var entityTag: String?
    /// The time of the last change, if it identifies the version.
    var lastModified: String?
    var length: Int64?
    var checksums: [ServerChecksum]

    /// The validator, which proves that a later part is of this version; nil if there is none.
    var validator: String? { entityTag ?? lastModified }

    /// Reads the head of a response with the whole file.
    init(_ head: HTTPResponse, now: Date) {
        // A coded body has bytes of its own in each coding, and the terminal may have decoded it.
        guard !Self.isEncoded(head) else {
            checksums = []
            return
        }
        length = ContentRange.length(head.headers)
        checksums = ServerChecksum.all(in: head)
        guard !head.headers.list(for: "Accept-Ranges", contains: "none") else { return }
        entityTag = Self.strongTag(head)
        lastModified = Self.strongDate(head, now: now)
    }

    static func isEncoded(_ head: HTTPResponse) -> Bool {
        !head.headers.list(for: "Content-Encoding").allSatisfy { ASCII.isEqualIgnoringCase($0, "identity") }
    }

    /// Whether a part of a file can be of this version: `If-Range` demands it, but a server that contradicts that is not believed.
    func agrees(with part: HTTPResponse) -> Bool {
        if let entityTag, part.headers.contains("ETag"), Self.strongTag(part) != entityTag { return false }
        if entityTag == nil, let lastModified, let other = part.headers["Last-Modified"], other != lastModified {
            return false
        }
        return ServerChecksum.all(in: part).allSatisfy { other in
            checksums.allSatisfy { $0.kind != other.kind || $0 == other }
        }
    }

    private static func strongTag(_ head: HTTPResponse) -> String? {
        let tags = head.headers.values(for: "ETag")
        return tags.count == 1 && PollState.isStrongTag(tags[0][...]) ? tags[0] : nil
    }

    /// The age that a date must have at the time of the response to exclude a later change with the same date.
    private static let certainty: TimeInterval = 60

    /// The date of the last change, if there is no entity tag and the date is a strong validator (RFC 9110, 8.8.2.2).
    private static func strongDate(_ head: HTTPResponse, now: Date) -> String? {
        guard !head.headers.contains("ETag"), let text = head.headers["Last-Modified"],
            let changed = HTTPDate.date(text, now: now),
            let sent = head.headers["Date"].flatMap({ HTTPDate.date($0, now: now) }),
            sent.timeIntervalSince(changed) >= certainty
        else { return nil }
        return text
    }
}

/// A checksum of a whole file that its server has named.
struct ServerChecksum: Hashable, Sendable, Codable {
    /// The kinds, of which an earlier one finds more kinds of damage, and is checked before a later one.
    enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case sha512, sha256, md5, crc32c

        fileprivate var length: Int {
            switch self {
            case .sha512: 64
            case .sha256: 32
            case .md5: 16
            case .crc32c: 4
            }
        }

        /// The names in `Repr-Digest`, and those in `x-goog-hash`.
        fileprivate static let digestFields = ["sha-512": sha512, "sha-256": sha256]
        fileprivate static let googleHashes = ["md5": md5, "crc32c": crc32c]

        func begin() -> any Digest {
            switch self {
            case .sha512: SHA512()
            case .sha256: SHA256()
            case .md5: MD5()
            case .crc32c: CRC32C()
            }
        }
    }

    let kind: Kind
    let bytes: [UInt8]

    /// Reads what the headers of a response say of the whole file, the strongest first.
    ///
    /// `Repr-Digest` (RFC 9530) and `x-goog-hash` are about the whole file in every response. `Content-MD5` may be about the
    /// part that a response has, so it counts only in a response with the whole file.
    static func all(in head: HTTPResponse) -> [ServerChecksum] {
        var found: [Kind: [UInt8]] = [:]
        for member in head.headers.list(for: "Repr-Digest") {
            guard let (name, value) = pair(member), let kind = Kind.digestFields[name] else { continue }
            // The value of a structured field stands between colons, and parameters may follow.
            let parts = value.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].isEmpty else { continue }
            add(kind, String(parts[1]))
        }
        // The sums of Google's storage are those of the file as it is stored, which may be compressed there.
        let stored = head.headers["x-goog-stored-content-encoding"] ?? "identity"
        if ASCII.isEqualIgnoringCase(stored, "identity") {
            for member in head.headers.list(for: "x-goog-hash") {
                guard let (name, value) = pair(member), let kind = Kind.googleHashes[name] else { continue }
                add(kind, value)
            }
        }
        if head.status != .partialContent, let value = head.headers["Content-MD5"] { add(.md5, value) }
        return Kind.allCases.compactMap { kind in found[kind].map { ServerChecksum(kind: kind, bytes: $0) } }

        func add(_ kind: Kind, _ base64: String) {
            guard let bytes = Data(base64Encoded: base64), bytes.count == kind.length else { return }
            found[kind] = found[kind] ?? Array(bytes)
        }
    }

    private static func pair(_ member: String) -> (name: String, value: String)? {
        guard let equals = member.firstIndex(of: "=") else { return nil }
        return (member[..<equals].lowercased(), String(member[equals...].dropFirst()))
    }
}

/// The range of a file's bytes that a response has: `bytes 500-999/1234` (RFC 9110, section 14.4).
struct ContentRange: Hashable, Sendable {
    let first: Int64
    let last: Int64
    /// How many bytes the file has; nil if the server does not know.
    let total: Int64?

    /// Reads the header of a response; nil unless there is one, in bytes, that makes sense.
    init?(_ headers: HTTPHeaders) {
        let values = headers.values(for: "Content-Range")
        guard values.count == 1, let value = values.first else { return nil }
        let parts = ASCII.trimmed(value.utf8).split(maxSplits: 1, whereSeparator: ASCII.isBlank)
        guard parts.count == 2, ASCII.isEqualIgnoringCase(String(decoding: parts[0], as: UTF8.self), "bytes") else {
            return nil
        }
        let numbers = ASCII.trimmed(parts[1]).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard numbers.count == 2 else { return nil }
        let bounds = numbers[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]) else {
            return nil
        }
        let isOpen = numbers[1].elementsEqual("*".utf8)
        let total = Self.number(numbers[1])
        guard first <= last, last < .max, isOpen || total.map({ last < $0 }) == true else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// The length of a body as its header has it; nil if it is missing or contradicts itself.
    static func length(_ headers: HTTPHeaders) -> Int64? {
        let lengths = Set(headers.list(for: "Content-Length"))
        return lengths.count == 1 ? lengths.first.flatMap { number($0.utf8) } : nil
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? { ASCII.number(digits) }
}
