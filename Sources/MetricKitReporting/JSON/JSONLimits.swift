/// The limits beyond which a text is refused, so that a hostile one cannot exhaust the memory.
///
/// A real payload is a thousand times smaller than each of these: the largest that are known have a few megabytes, a few
/// hundred thousand values, and call stacks a few thousand frames deep.
struct JSONLimits: Sendable {
    /// The most bytes of a text, or of one diagnostic where they are read one by one.
    var bytes = 64 << 20
    /// The most objects and arrays inside each other.
    var depth = 1 << 16
    /// The most values, each of which needs sixteen bytes while the text is read.
    var values = 1 << 22

    static let standard = JSONLimits()

    /// The most diagnostics, signposts or leftovers of a payload.
    static let kept = 1 << 14
    /// The most frames of a call stack that are kept.
    static let frames = 1 << 18
}
