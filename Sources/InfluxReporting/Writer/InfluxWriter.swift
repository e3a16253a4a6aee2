import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

#if os(iOS) || os(tvOS) || os(visionOS)
    import Dispatch
    import Foundation
#endif

// Writer: the writer itself, and the engine that carries out the decisions of the state. It may use every other folder.

/// Collects points from all threads and sends them to InfluxDB in batches, through a chain of loaders.
///
/// ```swift
/// let writer = InfluxWriter(destination: destination, chain: chain)
/// writer.write(Point("queue", tags: ["name": "uploads"], fields: ["length": 3]))
///
/// let measured = MetricsTap(MetricRecorder(writer)) --> chain
/// let report = await writer.flush()
/// print(measured, report.delivered)
/// ```
///
/// Guarantees:
/// - Writing a point never waits for a server or for another thread's work, and never throws. The point is encoded as a line at
///   once and is in a buffer when the call returns; with a directory, the calling thread writes it to a file before that.
/// - A batch is sent when no new point has been written for a while, when the oldest point has waited for long enough, when there
///   are enough points, or when the app flushes; see ``WriterSettings``.
/// - Points that were not delivered stay pending and are sent again, at the server's pace. A rejected point does not affect others.
/// - Memory is bounded. Every dropped point is counted by its reason, and reported as an event and, before the writer is shut down,
///   as a point.
/// - With a directory, a saved point survives the end of the process, whatever its cause.
/// - A `MetricsTap` does not record the writer's own requests.
///
/// Loaders of the chain handle retries within a request, limits, and credentials beyond the destination's.
///
/// A writer without a directory loses its points when it is released; end it with ``shutDown(within:)``.
public final class InfluxWriter: Sendable {
    let settings: WriterSettings
    let engine: WriterEngine

    /// Creates a writer that holds its points in memory.
    ///
    /// - Parameters:
    ///   - destination: the server and database that store the points.
    ///   - chain: the chain that sends the batches.
    ///   - settings: the settings for collecting, holding and sending points.
    ///   - onEvent: a closure that is called with each event at once, on any thread and outside all locks; it must return quickly.
    public convenience init(
        destination: InfluxDestination, chain: HTTPLoader, settings: WriterSettings = WriterSettings(),
        onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) {
        self.init(
            sender: Self.sender(to: destination, through: chain, settings), dialect: destination.lineDialect,
            settings: settings, onEvent: onEvent)
    }

    /// Creates a writer that stores its points in a directory until they are delivered.
    ///
    /// A saved point survives the end of the process, whatever its cause, and also a loss of power once
    /// ``WriterSettings/synchronization`` has passed. Points of an earlier launch are sent first. A point may be delivered twice,
    /// which is harmless: it gets its timestamp when it is written, so the server stores it once.
    ///
    /// - Parameters:
    ///   - destination: the server and database that store the points.
    ///   - chain: the chain that sends the batches.
    ///   - directory: the directory for the points; it is created, readable only by this user, if it is missing. One writer at a
    ///     time can use it.
    ///   - settings: the settings for collecting, holding and sending points.
    ///   - onEvent: a closure that is called with each event at once, on any thread and outside all locks; it must return quickly.
    /// - Throws: ``WriterError/Code/inUse`` if another writer is using the directory, or the reason why it cannot be used.
    public convenience init(
        destination: InfluxDestination, chain: HTTPLoader, directory: URL, settings: WriterSettings = WriterSettings(),
        onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) throws(WriterError) {
        let files: SystemDirectory
        do throws(FileFailure) { files = try SystemDirectory(directory) } catch { throw WriterError(error) }
        try self.init(
            sender: Self.sender(to: destination, through: chain, settings), dialect: destination.lineDialect,
            directory: files,
            settings: settings, onEvent: onEvent)
        SystemDirectory.protect(directory)
    }

    /// Creates a writer that holds its points in memory, for any destination that has a sender.
    init(
        sender: any LineSender, dialect: LineDialect = .portable, settings: WriterSettings,
        onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) {
        self.settings = settings
        engine = WriterEngine(settings, dialect: dialect, store: nil, sender: sender, onEvent: onEvent)
    }

    /// Creates a writer that stores its points in a directory, for any destination that has a sender.
    init(
        sender: any LineSender, dialect: LineDialect = .portable, directory: any Directory, settings: WriterSettings,
        onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) throws(WriterError) {
        self.settings = settings
        let store = try JournalStore(directory, precision: settings.precision, random: settings.random)
        let remains = try store.takeRemains()
        engine = WriterEngine(settings, dialect: dialect, store: store, sender: sender, onEvent: onEvent)
        engine.takeUp(remains)
    }

    private static func sender(
        to destination: InfluxDestination, through chain: HTTPLoader, _ settings: WriterSettings
    ) -> BatchSender {
        let timers = settings.timers
        return BatchSender(to: destination, through: chain, compression: settings.compression) { timers.date }
    }

    deinit { engine.stop() }
}

// MARK: - Writing

extension InfluxWriter {
    /// Writes a point; a point without a timestamp gets the current time.
    ///
    /// - Parameter point: the point; parts that have no encoding are repaired, and counted in ``WriterStatistics/repairs``.
    /// - Returns: where the point is held, or why it was dropped.
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

    /// Writes a point, and waits while the writer is full.
    ///
    /// No other point is dropped, whatever ``WriterSettings/whenFull`` says. Meanwhile, the writer sends the points that it holds.
    ///
    /// ```swift
    /// for number in 0..<1_000_000 {
    ///     try await writer.enqueue(Point("import", fields: ["number": .integer(Int64(number))]))
    /// }
    /// ```
    ///
    /// - Parameter point: the point.
    /// - Returns: where the point is held; it is dropped only for a reason that waiting cannot remove.
    /// - Throws: `CancellationError` if the Swift task is cancelled while it waits; then the point was not written.
    @discardableResult
    public func enqueue(_ point: Point) async throws(CancellationError) -> WriteResult {
        let timers = engine.timers
        let date = timers.date
        return try await engine.enqueue { encoder, nudge in
            var stamped = point
            if stamped.timestamp == nil { stamped.timestamp = TimeNudge.timestamp(date, nudge) }
            encoder.append(stamped)
        }
    }

    /// Writes points.
    ///
    /// - Parameter points: the points.
    /// - Returns: the number of points that are held.
    @discardableResult
    public func write(contentsOf points: some Sequence<Point>) -> Int {
        points.reduce(0) { $0 + (write($1).isHeld ? 1 : 0) }
    }

    /// Writes a point of a prepared series, field by field.
    ///
    /// This is the fastest form, and allocates nothing.
    ///
    /// ```swift
    /// let series = writer.series("APIHealth", tags: ["host": "api-1"])
    /// writer.write(series) { fields in
    ///     fields.set("duration", 0.25)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - series: the measurement and the tags; ``series(_:tags:)`` adds the tags of the settings.
    ///   - timestamp: the time of the point; nil for the current time.
    ///   - fields: a closure that writes the fields.
    /// - Returns: where the point is held, or why it was dropped.
    @discardableResult
    public func write(
        _ series: PreparedSeries, timestamp: Timestamp? = nil, fields: (inout FieldWriter) -> Void
    ) -> WriteResult {
        let timers = engine.timers
        return engine.take { encoder, nudge in
            encoder.append(series, timestamp: timestamp ?? TimeNudge.timestamp(timers.date, nudge), fields: fields)
        }
    }

    /// Writes a point, tag by tag and field by field.
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
    ///   - measurement: the name of the measurement.
    ///   - timestamp: the time of the point; nil for the current time.
    ///   - tags: a closure that writes the tags.
    ///   - fields: a closure that writes the fields.
    /// - Returns: where the point is held, or why it was dropped.
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
    ///   - measurement: the name of the measurement.
    ///   - tags: the tags of the series.
    /// - Returns: a series to write any number of points with.
    public func series(_ measurement: String, tags: Tags = [:]) -> PreparedSeries {
        PreparedSeries(measurement, tags: tags, defaults: settings.tags)
    }
}

extension InfluxWriter: MetricSink {
    /// Writes a measured request, event or trace as a point.
    public func record(_ record: MetricRecord) {
        _ = engine.take { encoder, nudge in MetricPoint.append(record, nudge: nudge, to: &encoder) }
    }

    /// False with a directory, because a disk can take long; otherwise true, because recording never waits.
    public var isImmediate: Bool { engine.store == nil }
}

// MARK: - Sending and ending

extension InfluxWriter {
    /// Sends all points written before the call, and waits until they are delivered or rejected.
    ///
    /// A failed batch is sent again, after pauses, until the time limit is reached or you have to fix something first, such as a
    /// wrong token. The flush ends the writer's current pause, unless a server asked for it.
    ///
    /// A writer with a directory gets the measurements of a recorder from a queue, so wait for the recorder's `flush()` before.
    ///
    /// - Parameter limit: the time limit. Points that are not delivered by then stay pending, and the writer keeps sending them.
    /// - Returns: the outcome for these points. If the Swift task is cancelled, the call returns at once.
    @discardableResult
    public func flush(within limit: Duration = .seconds(30)) async -> FlushReport {
        await engine.flush(within: limit)
    }

    /// Stops accepting points, sends those that it holds, and ends.
    ///
    /// A writer with a directory gets the measurements of a recorder from a queue, so wait for the recorder's `flush()` before.
    ///
    /// - Parameter limit: the time limit. Points that are not delivered by then are dropped as ``DropReason/unsent``; points in
    ///   files stay there for the next writer of the directory. A loader that does not stop a cancelled request can delay the end
    ///   by some ten seconds. A disk that hangs delays it by another `limit`, or by fifteen seconds if that is more; then the call
    ///   returns, and the writer ends when the disk goes on.
    /// - Returns: the outcome for the points; an empty report for a second call.
    @discardableResult
    public func shutDown(within limit: Duration = .seconds(10)) async -> FlushReport {
        await engine.shutDown(within: limit)
    }
}

// MARK: - Observing

extension InfluxWriter {
    /// The counts of the writer so far, and the points that it holds now.
    public var statistics: WriterStatistics { engine.statistics }

    /// A stream of the events from now on, for one listener; each access returns a new stream.
    ///
    /// The first stream also delivers earlier events. A stream buffers 1,000 events for a slow listener, and then discards the
    /// oldest; the ``statistics`` count everything. The stream ends with the writer.
    public var events: AsyncStream<WriterEvent> { engine.listeners.stream() }
}

extension InfluxWriter: CustomStringConvertible {
    /// The numbers of points held, delivered, rejected and dropped.
    public var description: String {
        let numbers = statistics
        return """
            InfluxWriter(\(numbers.held) held, \(numbers.delivered) delivered, \(numbers.rejected) rejected, \
            \(numbers.droppedTotal) dropped)
            """
    }
}

// MARK: - In the background

#if os(iOS) || os(tvOS) || os(visionOS)
    extension InfluxWriter {
        /// Flushes each time the app moves to the background, and asks the system for background time.
        ///
        /// - Parameter limit: the time limit of a flush; the system may grant less.
        /// - Returns: a value that keeps this active; release it to stop.
        public func flushInBackground(within limit: Duration = .seconds(5)) -> BackgroundFlush {
            BackgroundFlush(self, within: limit)
        }
    }

    /// Flushes a writer each time the app moves to the background, until it is released.
    public final class BackgroundFlush: @unchecked Sendable {
        private let observer: any NSObjectProtocol

        fileprivate init(_ writer: InfluxWriter, within limit: Duration) {
            let name = Notification.Name("UIApplicationDidEnterBackgroundNotification")
            observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                [weak writer] _ in
                guard let writer else { return }
                ProcessInfo.processInfo.performExpiringActivity(withReason: "Sends points") { isExpired in
                    // The system calls this again when the time is over; the first call ends at its own limit.
                    guard !isExpired else { return }
                    let isDone = DispatchSemaphore(value: 0)
                    Task {
                        await writer.flush(within: limit)
                        isDone.signal()
                    }
                    isDone.wait()
                }
            }
        }

        deinit { NotificationCenter.default.removeObserver(observer) }
    }
#endif
