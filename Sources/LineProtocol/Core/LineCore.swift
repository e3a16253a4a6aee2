/// The unsafe core of the encoder: a buffer of bytes that grows, and the state of the line at its end.
///
/// Every step first makes room for the most it can need, and then writes without looking at the bounds. The files
/// `LineCore+….swift` hold the steps of a line in their order: the measurement, its tags, its fields, the end. A step that
/// meets a problem repairs it and makes a note; whether that is good enough is decided at the end of the line.
struct LineCore {
    private(set) var base: UnsafeMutableRawPointer
    private(set) var capacity: Int
    var count = 0

    let dialect: LineDialect
    let powers: PowersOfTen
    /// Whether short strings can be read as ``SmallText``.
    let readsSmallText: Bool
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

    /// A tag's key in the buffer.
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

    init(capacity: Int, dialect: LineDialect, readsSmallText: Bool = SmallText.isLayoutKnown) {
        self.capacity = max(capacity, 64)
        self.dialect = dialect
        powers = .shared
        self.readsSmallText = readsSmallText
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    /// Copies everything but the free room.
    init(copying other: LineCore) {
        self = other
        capacity = max(other.count, 64)
        base = .allocate(byteCount: capacity, alignment: 16)
        base.copyMemory(from: other.base, byteCount: count)
    }

    func free() { base.deallocate() }

    /// Makes room for `more` bytes behind the end.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(by: more) }
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        let size = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
        capacity = size
    }

    /// Lets go of the buffer and begins with one of `capacity` bytes.
    mutating func shrink(to capacity: Int) {
        base.deallocate()
        self.capacity = max(capacity, 64)
        base = .allocate(byteCount: self.capacity, alignment: 16)
        count = 0
    }

    /// Writes a byte into room that was made before.
    @inline(__always)
    mutating func put(_ byte: UInt8) {
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends bytes as they are.
    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: source, byteCount: bytes.count)
        count &+= bytes.count
    }

    subscript(index: Int) -> UInt8 { base.load(fromByteOffset: index, as: UInt8.self) }
}
