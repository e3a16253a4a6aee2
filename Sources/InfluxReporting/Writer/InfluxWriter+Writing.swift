import LineProtocol
import LoaderChain

extension InfluxWriter {
    /// Takes a point; without a timestamp, it gets that of the moment.
    ///
    /// - Parameter point: the point; what cannot be encoded of it is repaired, and counted in ``WriterStatistics/repairs``.
    /// - Returns: what became of it.
    @discardableResult
    public func write(_ point: Point) -> WriteResult {
        if point.timestamp != nil { return engine.take { encoder, _ in encoder.append(point) } }
        let timers = engine.timers
        return engine.take { encoder, nudge in
            var stamped = point
            stamped.timestamp = TimeNudge.timestamp(timers.date, nudge)
            encoder.append(stamped)
        }
    }

    /// Takes a point when there is room for it, and waits until then.
    ///
    /// It drops no other point, whatever ``WriterSettings/whenFull`` says. While it waits, the writer sends what it holds.
    ///
    /// ```swift
    /// for number in 0..<1_000_000 {
    ///     try await writer.writeWhenThereIsRoom(Point("import", fields: ["number": .integer(Int64(number))]))
    /// }
    /// ```
    ///
    /// - Parameter point: the point.
    /// - Returns: what became of it; it is dropped only if there will never be room for it.
    /// - Throws: `CancellationError` if the Swift task is cancelled before there is room; the point was not taken then.
    @discardableResult
    public func writeWhenThereIsRoom(_ point: Point) async throws(CancellationError) -> WriteResult {
        let timers = engine.timers
        let date = timers.date
        return try await engine.takeWhenThereIsRoom { encoder, nudge in
            var stamped = point
            if stamped.timestamp == nil { stamped.timestamp = TimeNudge.timestamp(date, nudge) }
            encoder.append(stamped)
        }
    }

    /// Takes points.
    ///
    /// - Parameter points: the points.
    /// - Returns: how many of them are held.
    @discardableResult
    public func write(contentsOf points: some Sequence<Point>) -> Int {
        points.reduce(0) { $0 + (write($1).isHeld ? 1 : 0) }
    }

    /// Takes a point of a prepared series, whose fields are written one by one.
    ///
    /// This is the quickest way, and allocates nothing.
    ///
    /// ```swift
    /// let series = writer.series("APIHealth", tags: ["host": "api-1"])
    /// writer.write(series) { fields in
    ///     fields.set("duration", 0.25)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - series: the measurement and the tags, best made by ``series(_:tags:)``.
    ///   - timestamp: when it was; nil for now.
    ///   - fields: writes the fields.
    /// - Returns: what became of it.
    @discardableResult
    public func write(
        _ series: PreparedSeries, timestamp: Timestamp? = nil, fields: (inout FieldWriter) -> Void
    ) -> WriteResult {
        let timers = engine.timers
        return engine.take { encoder, nudge in
            encoder.append(series, timestamp: timestamp ?? TimeNudge.timestamp(timers.date, nudge), fields: fields)
        }
    }

    /// Takes a point whose tags and fields are written one by one.
    ///
    /// ```swift
    /// writer.write("APIHealth") { tags in
    ///     tags.set("host", "api-1")
    /// } fields: { fields in
    ///     fields.set("duration", 0.25)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - measurement: what is measured.
    ///   - timestamp: when it was; nil for now.
    ///   - tags: writes the tags.
    ///   - fields: writes the fields.
    /// - Returns: what became of it.
    @discardableResult
    public func write(
        _ measurement: String, timestamp: Timestamp? = nil, tags: (inout TagWriter) -> Void,
        fields: (inout FieldWriter) -> Void
    ) -> WriteResult {
        let timers = engine.timers
        return engine.take { encoder, nudge in
            encoder.append(
                measurement, timestamp: timestamp ?? TimeNudge.timestamp(timers.date, nudge), tags: tags,
                fields: fields)
        }
    }

    /// Prepares a series whose points also get the tags of the settings.
    ///
    /// - Parameters:
    ///   - measurement: what is measured.
    ///   - tags: the tags of the series.
    /// - Returns: what points of the series are written with, as often as one likes.
    public func series(_ measurement: String, tags: Tags = [:]) -> PreparedSeries {
        PreparedSeries(measurement, tags: tags, defaults: settings.tags)
    }
}

extension InfluxWriter: MetricSink {
    /// Takes a measured request, event or trace as a point.
    public func record(_ record: MetricRecord) {
        _ = engine.take { encoder, nudge in MetricPoint.append(record, nudge: nudge, to: &encoder) }
    }

    /// It only writes something down.
    public var isImmediate: Bool { true }
}
