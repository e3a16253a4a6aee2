/// Writes points as lines behind each other into a buffer of its own.
///
/// ```swift
/// var encoder = LineEncoder(precision: .milliseconds, defaults: ["region": "eu"])
/// encoder.append(Point("queue", fields: ["length": 3], timestamp: .milliseconds(1_700_000_000_000)))
/// print(encoder.text)  // queue,region=eu length=3i 1700000000000
/// encoder.removeAll()
/// ```
///
/// There are three ways in, from the most convenient to the fastest, and all of them write the same lines:
///
/// - a ``Point``, or several;
/// - tags and fields written one by one, ``append(_:timestamp:tags:fields:)``, without a value in between;
/// - a ``PreparedSeries``, whose measurement and tags are ready, with the fields written one by one.
///
/// What has no encoding that every server understands is repaired as <doc:Policy> says, and counted in ``repairs``. The
/// methods that say *strictly* throw an error instead, and then leave the buffer as it was. Whatever the input is, one
/// point becomes one line or none.
///
/// The buffer is kept by ``removeAll(keepingCapacity:)``, so that an encoder that has seen its longest batch allocates nothing.
/// An encoder is a value: a copy goes its own way.
public struct LineEncoder: Sendable {
    /// The most bytes that a measurement with its tags and a field's key may have together, less the four that join them.
    public static let maximumKeyLength = LineLimits.key
    /// The most bytes of a string.
    public static let maximumStringLength = LineLimits.string

    /// The unit of the timestamps.
    public let precision: Precision
    /// Default tags, which a point's own tags with the same key override.
    public let defaults: Tags
    /// What the servers understand.
    public let dialect: LineDialect

    private var storage: LineStorage

    /// Makes an encoder with an empty buffer of `capacity` bytes, which grows as it must.
    ///
    /// Problems in the defaults are repaired and counted here, once, and no line is refused for them.
    public init(
        precision: Precision = .nanoseconds, defaults: Tags = [:], dialect: LineDialect = .portable,
        capacity: Int = 65_536
    ) {
        self.precision = precision
        self.defaults = defaults
        self.dialect = dialect
        var core = LineCore(capacity: capacity, dialect: dialect)
        core.setDefaults(defaults)
        storage = LineStorage(core)
    }

    /// The storage, which no other encoder owns from here on.
    private mutating func uniqueStorage() -> LineStorage {
        if !isKnownUniquelyReferenced(&storage) { storage = LineStorage(LineCore(copying: storage.core)) }
        return storage
    }
}

// MARK: The buffer

extension LineEncoder {
    /// How many bytes the lines have.
    public var count: Int { storage.core.count }

    /// Whether there is no line.
    public var isEmpty: Bool { count == 0 }

    /// How often something was repaired, and how many points were left out.
    public var repairs: Repairs { storage.core.repairs }

    /// Takes out the ``repairs``, which are counted from zero again.
    package mutating func takeRepairs() -> Repairs {
        let storage = uniqueStorage()
        defer { storage.core.repairs = Repairs() }
        return storage.core.repairs
    }

    /// Removes all lines.
    ///
    /// - Parameter keepingCapacity: Whether the memory is kept for the lines to come.
    public mutating func removeAll(keepingCapacity: Bool = true) {
        let storage = uniqueStorage()
        if keepingCapacity {
            storage.core.bytes.end(at: 0)
        } else {
            storage.core.bytes = LineBytes(capacity: 0)
        }
    }

    /// Removes all lines after the first `count` bytes, which must end with a line or be empty.
    ///
    /// - Parameter count: What ``count`` was at some moment since the last ``removeAll(keepingCapacity:)``; any other
    ///   number that does not stand behind a line changes nothing.
    public mutating func removeAll(behind count: Int) {
        guard count >= 0, count < self.count else { return }
        guard count == 0 || storage.core.bytes[count - 1] == UInt8(ascii: "\n") else { return }
        uniqueStorage().core.bytes.end(at: count)
    }

    /// Hands the bytes of all lines to `body` without copying them.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.core.bytes.withUnsafeBytes(body)
    }

    /// A copy of the bytes of all lines.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// The lines as text.
    public var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension LineEncoder: CustomStringConvertible {
    /// The lines.
    public var description: String { text }
}

// MARK: The ways in

extension LineEncoder {
    /// Appends the line of a point.
    ///
    /// - Parameter point: The point; what cannot be encoded of it is repaired.
    /// - Returns: Whether there is a line; there is none if nothing of the point can be encoded.
    @discardableResult
    public mutating func append(_ point: Point) -> Bool {
        uniqueStorage().core.write(point, precision)
    }

    /// Appends the lines of points.
    public mutating func append(contentsOf points: some Sequence<Point>) {
        for point in points { append(point) }
    }

    /// Appends a line whose tags and fields are written one by one.
    ///
    /// ```swift
    /// var encoder = LineEncoder()
    /// encoder.append("APIHealth", timestamp: .seconds(1_700_000_000)) { tags in
    ///     tags.set("host", "api-1")
    ///     tags.set("status", 200)
    /// } fields: { fields in
    ///     fields.set("duration", 0.25)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - measurement: What is measured.
    ///   - timestamp: When it was.
    ///   - tags: Writes the tags.
    ///   - fields: Writes the fields.
    /// - Returns: Whether there is a line.
    /// - Throws: What the closures throw; no line is appended then.
    @discardableResult
    @inlinable
    public mutating func append<Failure: Error>(
        _ measurement: String, timestamp: Timestamp?, tags: (inout TagWriter) throws(Failure) -> Void,
        fields: (inout FieldWriter) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        do throws(Failure) {
            var tagWriter = begin(measurement)
            try tags(&tagWriter)
            var fieldWriter = Self.fieldWriter(after: tagWriter)
            try fields(&fieldWriter)
        } catch {
            abandon()
            throw error
        }
        return end(timestamp)
    }

    /// Appends a line of a prepared series, whose fields are written one by one.
    ///
    /// ```swift
    /// let series = PreparedSeries("APIHealth", tags: ["host": "api-1"])
    /// var encoder = LineEncoder()
    /// encoder.append(series, timestamp: .seconds(1_700_000_000)) { fields in
    ///     fields.set("duration", 0.25)
    ///     fields.set("bytes", 512)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - series: The measurement and the tags. The defaults of the encoder do not join them; see
    ///     ``series(_:tags:)``.
    ///   - timestamp: When it was.
    ///   - fields: Writes the fields.
    /// - Returns: Whether there is a line.
    /// - Throws: What the closure throws; no line is appended then.
    @discardableResult
    @inlinable
    public mutating func append<Failure: Error>(
        _ series: PreparedSeries, timestamp: Timestamp?, fields: (inout FieldWriter) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        do throws(Failure) {
            var fieldWriter = begin(series)
            try fields(&fieldWriter)
        } catch {
            abandon()
            throw error
        }
        return end(timestamp)
    }

    /// Prepares a series whose lines also have the defaults of the encoder.
    public func series(_ measurement: String, tags: Tags = [:]) -> PreparedSeries {
        PreparedSeries(measurement, tags: tags, defaults: defaults)
    }

    @usableFromInline
    mutating func begin(_ measurement: String) -> TagWriter {
        let storage = uniqueStorage()
        storage.core.beginLine(measurement: measurement)
        return TagWriter(storage)
    }

    @usableFromInline
    mutating func begin(_ series: PreparedSeries) -> FieldWriter {
        let storage = uniqueStorage()
        storage.core.beginLine(series: series.storage)
        return FieldWriter(storage)
    }

    @usableFromInline
    static func fieldWriter(after tags: consuming TagWriter) -> FieldWriter {
        tags.storage.core.endTags()
        return FieldWriter(tags.storage)
    }

    @usableFromInline
    mutating func end(_ timestamp: Timestamp?) -> Bool { storage.core.endLine(timestamp, precision) }

    @usableFromInline
    mutating func abandon() { storage.core.abandonLine() }
}

// MARK: The strict forms

extension LineEncoder {
    /// Appends the line of a point, unless something of it would have to be repaired.
    ///
    /// - Throws: Which part of the point has no encoding, and why; no line is appended then.
    public mutating func appendStrictly(_ point: Point) throws(LineEncodingError) {
        try strictly { $0.append(point) }
    }

    /// Appends a line whose tags and fields are written one by one, unless something would have to be repaired.
    ///
    /// - Throws: Which part has no encoding, and why; no line is appended then.
    public mutating func appendStrictly(
        _ measurement: String, timestamp: Timestamp?, tags: (inout TagWriter) -> Void,
        fields: (inout FieldWriter) -> Void
    ) throws(LineEncodingError) {
        try strictly { $0.append(measurement, timestamp: timestamp, tags: tags, fields: fields) }
    }

    /// Appends a line of a prepared series, unless something of the series or the fields would have to be repaired.
    ///
    /// - Throws: Which part has no encoding, and why; no line is appended then.
    public mutating func appendStrictly(
        _ series: PreparedSeries, timestamp: Timestamp?, fields: (inout FieldWriter) -> Void
    ) throws(LineEncodingError) {
        try strictly { $0.append(series, timestamp: timestamp, fields: fields) }
    }

    /// Runs the code of the other forms, and then asks whether anything had to be repaired.
    private mutating func strictly(_ append: (inout LineEncoder) -> Bool) throws(LineEncodingError) {
        uniqueStorage().core.isStrict = true
        _ = append(&self)
        let error = storage.core.firstError
        storage.core.isStrict = false
        storage.core.firstError = nil
        if let error { throw error }
    }
}

extension Point: CustomStringConvertible {
    /// The line of the point, in nanoseconds and with repairs, or `(no line)`.
    public var description: String {
        var encoder = LineEncoder(dialect: .influxDB2, capacity: 256)
        encoder.append(self)
        return encoder.isEmpty ? "(no line)" : String(encoder.text.dropLast())
    }
}
