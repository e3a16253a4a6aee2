// Encoding: the public encoder. Depends on Model, Policy and Core; Decoding may use it.

// The ways into the encoder: points, parts one by one, and prepared series. The strict forms run the same code and then ask
// whether anything had to be repaired.

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

    /// Appends the line of a point, unless something of it would have to be repaired.
    ///
    /// - Parameter point: The point.
    /// - Throws: Which part of the point has no encoding, and why; no line is appended then.
    public mutating func appendStrictly(_ point: Point) throws(LineEncodingError) {
        let storage = uniqueStorage()
        storage.core.isStrict = true
        _ = storage.core.write(point, precision)
        try storage.core.endStrictly()
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

    /// Appends a line whose tags and fields are written one by one, unless something would have to be repaired.
    ///
    /// - Parameters:
    ///   - measurement: What is measured.
    ///   - timestamp: When it was.
    ///   - tags: Writes the tags.
    ///   - fields: Writes the fields.
    /// - Throws: Which part has no encoding, and why; no line is appended then.
    public mutating func appendStrictly(
        _ measurement: String, timestamp: Timestamp?, tags: (inout TagWriter) -> Void,
        fields: (inout FieldWriter) -> Void
    ) throws(LineEncodingError) {
        uniqueStorage().core.isStrict = true
        append(measurement, timestamp: timestamp, tags: tags, fields: fields)
        try storage.core.endStrictly()
    }

    /// Appends a line of a prepared series, unless something of the series or the fields would have to be repaired.
    ///
    /// - Parameters:
    ///   - series: The measurement and the tags.
    ///   - timestamp: When it was.
    ///   - fields: Writes the fields.
    /// - Throws: Which part has no encoding, and why; no line is appended then.
    public mutating func appendStrictly(
        _ series: PreparedSeries, timestamp: Timestamp?, fields: (inout FieldWriter) -> Void
    ) throws(LineEncodingError) {
        uniqueStorage().core.isStrict = true
        append(series, timestamp: timestamp, fields: fields)
        try storage.core.endStrictly()
    }
}

// MARK: Steps

extension LineEncoder {
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

extension LineCore {
    /// Ends a strict line: throws the first problem it had.
    mutating func endStrictly() throws(LineEncodingError) {
        let error = firstError
        isStrict = false
        firstError = nil
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
