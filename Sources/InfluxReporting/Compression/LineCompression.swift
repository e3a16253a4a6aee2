// Compression: whether lines are compressed. It uses no other folder.

/// Whether lines are compressed on their way.
public struct LineCompression: Sendable, Hashable {
    /// From how many bytes on; nil for never.
    let threshold: Int?

    /// Lines are sent as they are.
    public static let off = LineCompression(threshold: nil)

    /// Lines are compressed by gzip, at its quickest level, in requests of so many bytes and more.
    ///
    /// Short bodies gain nothing: they fit into one or two packets either way. A server that cannot read gzip is found out
    /// at the first request, and gets the lines as they are from then on.
    ///
    /// - Parameter threshold: the least number of bytes.
    public static func gzip(from threshold: Int = 4_096) -> LineCompression {
        LineCompression(threshold: max(1, threshold))
    }
}
