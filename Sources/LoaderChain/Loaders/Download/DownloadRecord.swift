import LoaderChainPlatformFoundation

/// What is kept beside a part file: what it has bytes of, and how many of them are certain.
struct DownloadRecord: Hashable, Sendable, Codable {
    /// A digest of what was asked for, so that no secret of a URL is kept.
    let subject: String
    let version: DownloadVersion
    /// How many bytes were flushed to the disk; after a loss of power, a file may be longer than what was written.
    let kept: Int64

    /// The most bytes that a record has.
    static let longest = 64 * 1024

    /// A digest of a name or an address.
    static func subject(_ text: String) -> String {
        SHA256.of(text.utf8).map(ASCII.hexadecimal).joined()
    }
}
