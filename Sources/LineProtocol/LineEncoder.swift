/// Encodes points as lines and appends them to its buffer.
///
/// ```swift
/// var encoder = LineEncoder(precision: .milliseconds, defaults: ["region": "eu"])
/// encoder.append(Point("queue", fields: ["length": 3], timestamp: .milliseconds(1_700_000_000_000)))
/// print(encoder.text)  // queue,region=eu length=3i 1700000000000
/// encoder.removeAll()
/// ```
///
/// There are three forms, from the most convenient to the fastest, and all of them write the same lines:
///
/// - a ``Point``;
/// - tags and fields written one by one with ``append(_:timestamp:tags:fields:)``, without an intermediate value;
/// - a ``PreparedSeries``, whose measurement and tags are already encoded, with the fields written one by one.
///
/// Values that have no encoding that every server understands are repaired as described in <doc:Policy>, and counted in
/// ``repairs``. Whatever the input is, one point becomes one line or none.
///
/// ``removeAll(keepingCapacity:)`` keeps the buffer, so an encoder allocates no more memory after its longest batch.
/// An encoder is a value: a copy has its own buffer.
public struct LineEncoder: Sendable {
    /// The unit of the timestamps.
    public let precision: Precision
    /// Default tags, which a point's own tags with the same key override.
    public let defaults: Tags
    /// The dialect of the servers.
    public let dialect: LineDialect

    private var storage: LineStorage

    /// Creates an encoder with an empty buffer of `capacity` bytes, which grows if necessary.
    ///
    /// Problems in the defaults are repaired and counted here, once.
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

    /// The storage, copied first if another encoder shares it.
    private mutating func uniqueStorage() -> LineStorage {
        if !isKnownUniquelyReferenced(&storage) { storage = LineStorage(LineCore(copying: storage.core)) }
        return storage
    }
}

// MARK: The buffer

extension LineEncoder {
    /// The number of bytes of the lines.
    public var count: Int { storage.core.count }

    package var capacity: Int { storage.core.bytes.capacity }

    /// Whether there are no lines.
    public var isEmpty: Bool { count == 0 }

    /// The numbers of repairs and of dropped points.
    public var repairs: Repairs { storage.core.repairs }

    /// Returns the ``repairs``, and resets them to zero.
    package mutating func takeRepairs() -> Repairs {
        let storage = uniqueStorage()
        defer { storage.core.repairs = Repairs() }
        return storage.core.repairs
    }

    /// Removes all lines.
    ///
    /// - Parameter keepingCapacity: Whether the memory is kept for further lines.
    public mutating func removeAll(keepingCapacity: Bool = true) {
        let storage = uniqueStorage()
        if keepingCapacity {
            storage.core.bytes.end(at: 0)
        } else {
            storage.core.bytes = LineBytes(capacity: 0)
        }
    }

    /// Calls `body` with the bytes of all lines, without copying them.
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

// MARK: Appending

extension LineEncoder {
    /// Appends a point as a line.
    ///
    /// - Parameter point: The point; parts that have no encoding are repaired.
    /// - Returns: Whether a line was appended; the point is dropped if nothing can be encoded.
    @discardableResult
    public mutating func append(_ point: Point) -> Bool {
        uniqueStorage().core.write(point, precision)
    }

    /// Appends a line, tag by tag and field by field.
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
    ///   - measurement: The name of the measurement.
    ///   - timestamp: The time of the point.
    ///   - tags: A closure that writes the tags.
    ///   - fields: A closure that writes the fields.
    /// - Returns: Whether a line was appended.
    /// - Throws: The error of a closure; then no line is appended.
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

    /// Appends a line of a prepared series, field by field.
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
    ///   - series: The measurement and the tags. The encoder does not add its defaults; see ``series(_:tags:)``.
    ///   - timestamp: The time of the point.
    ///   - fields: A closure that writes the fields.
    /// - Returns: Whether a line was appended.
    /// - Throws: The error of the closure; then no line is appended.
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

    /// Prepares a series whose lines also have the encoder's defaults.
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

extension Point: CustomStringConvertible {
    /// The line of the point, in nanoseconds and with repairs, or `(no line)`.
    public var description: String {
        var encoder = LineEncoder(dialect: .influxDB2, capacity: 256)
        encoder.append(self)
        return encoder.isEmpty ? "(no line)" : String(encoder.text.dropLast())
    }
}
