/// The core of the encoder: the bytes of the lines, and the state of the line at their end.
///
/// Every step puts its bytes behind the last one and then says where the line ends now; what was put and not kept is
/// overwritten by what follows. The files `LineCore+….swift` hold the steps of a line in their order: the measurement, its
/// tags, its fields, the end. A step that meets a problem repairs it and makes a note; whether that is good enough is decided
/// at the end of the line.
struct LineCore: ~Copyable {
    var bytes: LineBytes

    let dialect: LineDialect
    var repairs = Repairs()

    // The line being written.
    var lineStart = 0
    /// Where the tags begin, each with its comma.
    var tagsStart = 0
    /// Where the measurement and the tags end.
    var seriesEnd = 0
    /// The key of the tag before; empty if the tag to come is the first.
    var previousKey = KeyText(start: 0, end: 0, isPlain: true, leading: 0)
    /// Whether a tag came after one that sorts behind it, or equals it.
    var isUnsorted = false
    var fieldCount = 0
    /// Whether the line as a whole cannot be written.
    var isLost = false

    /// Whether the line's first problem is to be kept, with the name of the part that has it.
    var isStrict = false
    var firstError: LineEncodingError?
    /// The problems of this line, which count once it ends.
    var noted: [LineProblem] = []

    /// The tags that every line gets, in order, and how many of them this line has got.
    var defaults: [DefaultTag] = []
    var defaultsWritten = 0
    /// Where their keys are, for the case that the tags must be sorted.
    var defaultStarts: [Int] = []

    /// A tag's key among the bytes.
    struct KeyText {
        var start: Int
        var end: Int
        /// Whether no byte of it is escaped.
        var isPlain: Bool
        /// The first eight bytes of a plain key as a number that sorts as they do, zeros behind a shorter one.
        var leading: UInt64
    }

    /// A tag that is written if the point has none with its key: `,key=value`, and the length of `key`.
    struct DefaultTag {
        var text: [UInt8]
        var key: KeyText
    }

    init(capacity: Int, dialect: LineDialect) {
        bytes = LineBytes(capacity: capacity)
        self.dialect = dialect
    }

    /// Copies the state that is kept between lines.
    init(copying other: borrowing LineCore) {
        bytes = LineBytes(copying: other.bytes)
        dialect = other.dialect
        repairs = other.repairs
        defaults = other.defaults
    }

    /// How many bytes the lines have.
    var count: Int { bytes.count }
}
