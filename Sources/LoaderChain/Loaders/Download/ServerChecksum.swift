import LoaderChainPlatformFoundation

/// A checksum of a whole file that its server has named.
struct ServerChecksum: Hashable, Sendable, Codable {
    /// How it is computed.
    enum Kind: String, Hashable, Sendable, Codable {
        case sha512, sha256, md5, crc32c

        fileprivate var length: Int {
            switch self {
            case .sha512: 64
            case .sha256: 32
            case .md5: 16
            case .crc32c: 4
            }
        }

        /// Smaller for one that finds more kinds of damage, and is checked before the others.
        fileprivate var rank: Int {
            switch self {
            case .sha512: 0
            case .sha256: 1
            case .md5: 2
            case .crc32c: 3
            }
        }

        /// The kind of a name in `Repr-Digest`.
        fileprivate init?(digestField name: String) {
            switch name {
            case "sha-512": self = .sha512
            case "sha-256": self = .sha256
            default: return nil
            }
        }

        /// The kind of a name in `x-goog-hash`.
        fileprivate init?(googleHash name: String) {
            switch name {
            case "md5": self = .md5
            case "crc32c": self = .crc32c
            default: return nil
            }
        }

        /// Begins to compute one.
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
    /// `Repr-Digest` (RFC 9530) and `x-goog-hash` speak of the whole file in every response. `Content-MD5` may speak of the part
    /// that a response has, so it counts in a response with the whole alone.
    static func all(in head: HTTPResponse) -> [ServerChecksum] {
        var found: [ServerChecksum] = []
        for member in head.headers.list(for: "Repr-Digest") {
            guard let (name, value) = pair(member), let kind = Kind(digestField: name) else { continue }
            // The value of a structured field stands between colons, and parameters may follow.
            let parts = value.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].isEmpty else { continue }
            add(kind, String(parts[1]))
        }
        // The sums of Google's storage are those of the file as it is stored, which may be compressed there.
        let stored = head.headers["x-goog-stored-content-encoding"] ?? "identity"
        if ASCII.isEqualIgnoringCase(stored, "identity") {
            for member in head.headers.list(for: "x-goog-hash") {
                guard let (name, value) = pair(member), let kind = Kind(googleHash: name) else { continue }
                add(kind, value)
            }
        }
        if head.status != .partialContent, let value = head.headers["Content-MD5"] { add(.md5, value) }
        return found.sorted { $0.kind.rank < $1.kind.rank }

        func add(_ kind: Kind, _ base64: String) {
            guard let bytes = Data(base64Encoded: base64), bytes.count == kind.length,
                !found.contains(where: { $0.kind == kind })
            else { return }
            found.append(ServerChecksum(kind: kind, bytes: Array(bytes)))
        }
    }

    private static func pair(_ member: String) -> (name: String, value: String)? {
        guard let equals = member.firstIndex(of: "=") else { return nil }
        return (member[..<equals].lowercased(), String(member[equals...].dropFirst()))
    }
}
