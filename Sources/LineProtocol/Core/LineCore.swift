/// The core of the encoder: the bytes of all lines, and the state of the line that is being written.
///
/// Every step puts its bytes after the current end and then sets the new end; bytes beyond the end are overwritten by the next
/// step. This file contains the beginning and the end of a line, the files `LineCore+….swift` the steps between: names, tags and
/// fields. A step that finds a problem repairs and records it; the end of the line decides whether the line is kept.
struct LineCore: ~Copyable {
    var bytes: LineBytes

    let dialect: LineDialect
    var repairs = Repairs()

    // The line being written.
    var lineStart = 0
    /// The start of the tags, each with its comma.
    var tagsStart = 0
    /// The end of the measurement and the tags.
    var seriesEnd = 0
    /// The key of the previous tag; empty before the first tag.
    var previousKey = KeyText(start: 0, end: 0, isPlain: true, leading: 0)
    /// Whether a tag's key does not sort after the previous one.
    var isUnsorted = false
    var fieldCount = 0
    /// Whether the line as a whole cannot be written.
    var isLost = false
    /// The problems of this line, which are counted when it ends.
    var noted: [LineProblem] = []

    /// The tags that every line gets, in order, and the number of them that are in this line.
    var defaults: [DefaultTag] = []
    var defaultsWritten = 0
    /// The positions of their keys, for sorting the tags.
    var defaultStarts: [Int] = []

    /// The position of a tag's key in the bytes.
    struct KeyText {
        var start: Int
        var end: Int
        /// Whether the key has no escapes.
        var isPlain: Bool
        /// The first eight bytes of a plain key as a big-endian number, padded with zeros.
        var leading: UInt64
    }

    /// A tag that is written if the point has no tag with its key: `,key=value`, the position of the key in it, and the key's text.
    struct DefaultTag {
        var text: [UInt8]
        var key: KeyText
        var name: String
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

    /// The number of bytes of the lines.
    var count: Int { bytes.count }
}

// MARK: Whole points

extension LineCore {
    mutating func write(_ point: borrowing Point, _ precision: Precision) -> Bool {
        beginLine(measurement: point.measurement)
        write(point.tags)
        endTags()
        write(point.fields)
        return endLine(point.timestamp, precision)
    }

    @inline(__always)
    mutating func write(_ tags: Tags) {
        for tag in tags.elements { writeTag(tag.key, tag.value) }
    }

    @inline(__always)
    mutating func write(_ fields: Fields) {
        for field in fields.elements { write(field.key, field.value) }
    }

    @inline(__always)
    mutating func write(_ key: String, _ value: FieldValue) {
        switch value {
        case .double(let number): writeField(key, number)
        case .float(let number): writeField(key, number)
        case .integer(let number): writeField(key, number)
        case .unsigned(let number): writeField(key, number)
        case .boolean(let flag): writeField(key, flag)
        case .string(let text): writeField(key, text)
        }
    }
}

// MARK: The beginning and the end of a line

extension LineCore {
    @inline(__always)
    private mutating func beginLine() {
        lineStart = bytes.count
        previousKey = KeyText(start: 0, end: 0, isPlain: true, leading: 0)
        isUnsorted = false
        fieldCount = 0
        isLost = false
        defaultsWritten = 0
        if !defaultStarts.isEmpty { defaultStarts.removeAll(keepingCapacity: true) }
    }

    @inline(__always)
    mutating func beginLine(measurement: String) {
        beginLine()
        if measurement.isEmpty {
            lose(.emptyMeasurement)
        } else {
            bytes.end(at: writeName(measurement, at: bytes.count, as: .measurement))
        }
        tagsStart = bytes.count
    }

    @inline(__always)
    mutating func beginLine(series: PreparedSeries.Storage) {
        beginLine()
        if !series.problems.isEmpty { takeProblems(of: series) }
        bytes.end(at: bytes.put(series.bytes, at: bytes.count))
        seriesEnd = bytes.count
    }

    @inline(never)
    private mutating func takeProblems(of series: PreparedSeries.Storage) {
        noted += series.problems
        isLost = series.bytes.isEmpty
    }

    /// Ends the line, or removes it if none of its fields can be written; returns whether the line is in the buffer.
    @inline(__always)
    mutating func endLine(_ timestamp: Timestamp?, _ precision: Precision) -> Bool {
        var place = bytes.count
        if let timestamp {
            bytes.put(UInt8(ascii: " "), at: place)
            place = bytes.put(decimal: storable(timestamp).count(in: precision), at: place &+ 1)
        }
        bytes.put(UInt8(ascii: "\n"), at: place)
        bytes.end(at: place &+ 1)
        if fieldCount == 0 || isLost || !noted.isEmpty { return settle() }
        return true
    }

    /// The timestamp, clamped to the range that servers can store.
    @inline(__always)
    private mutating func storable(_ timestamp: Timestamp) -> Timestamp {
        if timestamp >= .earliest, timestamp <= .latest { return timestamp }
        note(.timeOutOfRange)
        return timestamp < .earliest ? .earliest : .latest
    }

    /// Ends a line that has a problem.
    @inline(never)
    private mutating func settle() -> Bool {
        if fieldCount == 0, !isLost { lose(.noFields) }
        if isLost {
            bytes.end(at: lineStart)
            repairs.droppedPoints += 1
        }
        for problem in noted { repairs[problem] += 1 }
        noted.removeAll(keepingCapacity: true)
        return !isLost
    }

    mutating func abandonLine() {
        bytes.end(at: lineStart)
        noted.removeAll(keepingCapacity: true)
    }

    /// Records a problem for the end of the line.
    @inline(never)
    mutating func note(_ problem: LineProblem) { noted.append(problem) }

    /// Records a problem because of which the line cannot be written.
    @inline(never)
    mutating func lose(_ problem: LineProblem) {
        note(problem)
        isLost = true
    }
}
