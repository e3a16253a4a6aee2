import LoaderChainPlatformFoundation

/// A version of a file on a server, as its responses describe it.
struct DownloadVersion: Hashable, Sendable, Codable {
    /// The strong entity tag, as it was received.
    var entityTag: String?
    /// The time of the last change, where it tells versions apart.
    var lastModified: String?
    /// How many bytes the file has.
    var length: Int64?
    /// The checksums that the server has named.
    var checksums: [ServerChecksum]

    /// What proves that a later part is of this version; nil if nothing does.
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

    /// Whether the body of a response is coded, as with gzip.
    static func isEncoded(_ head: HTTPResponse) -> Bool {
        !head.headers.list(for: "Content-Encoding").allSatisfy { ASCII.isEqualIgnoringCase($0, "identity") }
    }

    /// Whether a response that has a part of a file can be of this version.
    ///
    /// It is of this version by its `If-Range`. A server that contradicts that is not believed.
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
        guard tags.count == 1, let tag = tags.first, tag.utf8.count >= 2 else { return nil }
        let quote = UInt8(ascii: "\"")
        guard tag.utf8.first == quote, tag.utf8.last == quote else { return nil }
        let inside = tag.utf8.dropFirst().dropLast()
        return inside.allSatisfy { $0 > ASCII.space && $0 != quote && $0 != ASCII.delete } ? tag : nil
    }

    /// How much older than the response a date must be, so that no later change can have it too.
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
