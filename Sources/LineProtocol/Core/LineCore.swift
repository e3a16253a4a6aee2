/// The core of the encoder: the bytes of the lines, and the state of the line at their end.
///
/// Every step puts its bytes behind the last one and then says where the line ends now; what was put and not kept is
/// overwritten by what follows. Here are the beginning and the end of a line; the files `LineCore+….swift` hold the steps between
/// them: names, tags and fields. A step that meets a problem repairs it and makes a note; whether that is good enough is decided at
/// the end of the line.
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

    /// A tag that is written if the point has none with its key: `,key=value`, where the key lies in that, and what it is.
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

    /// How many bytes the lines have.
    var count: Int { bytes.count }
}

// MARK: A whole point at once

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
            lose(.emptyMeasurement, .measurement(""))
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
        if isStrict { firstError = series.firstError }
        isLost = series.bytes.isEmpty
    }

    /// Ends the line, or removes it if none of its fields can be written.
    ///
    /// - Returns: Whether the line stands in the buffer.
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

    /// The time, or the nearest to it that servers can store.
    @inline(__always)
    private mutating func storable(_ timestamp: Timestamp) -> Timestamp {
        if timestamp >= .earliest, timestamp <= .latest { return timestamp }
        note(.timeOutOfRange, .timestamp)
        return timestamp < .earliest ? .earliest : .latest
    }

    /// Ends a line that has a problem.
    @inline(never)
    private mutating func settle() -> Bool {
        if fieldCount == 0, !isLost { lose(.noFields, .point) }
        let refused = isStrict && firstError != nil
        if isLost || refused { bytes.end(at: lineStart) }
        if !refused {
            for problem in noted { repairs[problem] += 1 }
            if isLost { repairs.droppedPoints += 1 }
        }
        noted.removeAll(keepingCapacity: true)
        return !isLost && !refused
    }

    mutating func abandonLine() {
        bytes.end(at: lineStart)
        noted.removeAll(keepingCapacity: true)
        firstError = nil
    }

    /// Keeps a problem for the end of the line.
    @inline(never)
    mutating func note(_ problem: LineProblem, _ part: LineEncodingError.Part) {
        noted.append(problem)
        if isStrict, firstError == nil { firstError = LineEncodingError(part, problem) }
    }

    /// Keeps a problem that leaves nothing to write.
    @inline(never)
    mutating func lose(_ problem: LineProblem, _ part: LineEncodingError.Part) {
        note(problem, part)
        isLost = true
    }
}
