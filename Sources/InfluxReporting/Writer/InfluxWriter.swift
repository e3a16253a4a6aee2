import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

#if os(iOS) || os(tvOS) || os(visionOS)
    import Dispatch
    import Foundation
#endif

// Writer: the writer itself, and the engine that carries out what the state decides. It may use every other folder.

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
/// You can rely on this:
/// - Writing a point never waits for a server or another thread's work, and never throws. The point becomes a line at once and lies in
///   a buffer when the call returns; with a directory, it is written to a file before that, by the calling thread.
/// - Points leave when none has come for a while, when the oldest has waited for long enough, when there are enough, or when
///   the app flushes; see ``WriterSettings``.
/// - Points that do not arrive are kept and sent again, at the server's pace. A point that is refused does not affect others.
/// - Memory is bounded. Every point that is dropped is counted by its reason, told as an event, and reported as a point.
/// - With a directory, a point that was taken survives the end of the process, however that comes.
/// - A `MetricsTap` does not record the writer's own requests.
///
/// Retrying within a request, limits and credentials beyond the destination's are the business of the chain's loaders.
///
/// A writer in memory loses its points when it is released; end it with ``shutDown(within:)``.
public final class InfluxWriter: Sendable {
    /// How the writer collects, holds and sends points.
    public let settings: WriterSettings
    let engine: WriterEngine

    /// Makes a writer that holds its points in memory.
    ///
    /// - Parameters:
    ///   - destination: where they are sent.
    ///   - chain: what they are sent through.
    ///   - settings: how they are collected, held and sent.
    ///   - onEvent: hears each event at once, on any thread and under no lock; it must return quickly.
    public convenience init(
        destination: InfluxDestination, chain: HTTPLoader, settings: WriterSettings = WriterSettings(),
        onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) {
        self.init(
            sender: Self.sender(to: destination, through: chain, settings), dialect: destination.lineDialect,
            settings: settings, onEvent: onEvent)
    }

    /// Makes a writer that keeps its points in a directory until they have arrived.
    ///
    /// A point that was taken survives the end of the process, however that comes, and a loss of power after
    /// ``WriterSettings/synchronization``. What an earlier launch left is sent first. A point may arrive twice, and is the same
    /// point then, because it has its timestamp from when it was written.
    ///
    /// - Parameters:
    ///   - destination: where the points are sent.
    ///   - chain: what they are sent through.
    ///   - directory: where they are kept; it is created, for this user alone, if it is missing. One writer at a time can use it.
    ///   - settings: how they are collected, held and sent.
    ///   - onEvent: hears each event at once, on any thread and under no lock; it must return quickly.
    /// - Throws: ``WriterError/Code/inUse`` if another writer has the directory, or why it cannot be used.
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
    }

    /// Makes a writer that holds its points in memory, for any destination that has a sender.
    init(
        sender: any LineSender, dialect: LineDialect = .portable, settings: WriterSettings,
        onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) {
        self.settings = settings
        engine = WriterEngine(settings, dialect: dialect, store: nil, sender: sender, onEvent: onEvent)
    }

    /// Makes a writer that keeps its points in a directory, for any destination that has a sender.
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

// MARK: - Sending and ending

extension InfluxWriter {
    /// Sends all points that were written before, and waits for what becomes of them.
    ///
    /// What fails is tried again, after pauses, until the time is over or something has to be changed first, as with a
    /// wrong token. A pause that a server asked for is kept; one of the writer's own is cut short.
    ///
    /// - Parameter limit: how long to wait. What has not arrived then is kept, and goes on being tried.
    /// - Returns: what became of the points. If the Swift task is cancelled, it returns at once.
    @discardableResult
    public func flush(within limit: Duration = .seconds(30)) async -> FlushReport {
        await engine.flush(within: limit)
    }

    /// Stops taking points, sends those that it has, and ends.
    ///
    /// - Parameter limit: how long to try. What has not arrived then is lost, counted as ``DropReason/unsent``; on the disk, it
    ///   stays for the next writer of the directory. A request that a loader of the chain does not end when it is cancelled may take
    ///   some ten seconds more.
    /// - Returns: what became of the points; of a second call, nothing.
    @discardableResult
    public func shutDown(within limit: Duration = .seconds(10)) async -> FlushReport {
        await engine.shutDown(within: limit)
    }
}

// MARK: - Watching

extension InfluxWriter {
    /// What the writer has done so far, and what it holds now.
    public var statistics: WriterStatistics { engine.statistics }

    /// A stream of what happens from now on, for one listener; each call returns another one.
    ///
    /// The first to ask also hears what has happened before. A stream keeps 1,000 events for a listener that is slower than the
    /// writer, and then lets go of the oldest; the ``statistics`` count everything. It ends with the writer.
    public var events: AsyncStream<WriterEvent> { engine.listeners.stream() }
}

extension InfluxWriter: CustomStringConvertible {
    /// How many points it holds, and what became of the others.
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
        /// Flushes each time the app moves to the background, and asks the system for the time that it takes.
        ///
        /// - Parameter limit: how long a flush may take; the system may give less.
        /// - Returns: a value that keeps it going; release it to end it.
        public func flushInBackground(within limit: Duration = .seconds(5)) -> BackgroundFlush {
            BackgroundFlush(self, within: limit)
        }
    }

    /// Flushes a writer each time the app moves to the background, for as long as it is held.
    public final class BackgroundFlush: @unchecked Sendable {
        private let observer: any NSObjectProtocol

        fileprivate init(_ writer: InfluxWriter, within limit: Duration) {
            let name = Notification.Name("UIApplicationDidEnterBackgroundNotification")
            observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                [weak writer] _ in
                guard let writer else { return }
                ProcessInfo.processInfo.performExpiringActivity(withReason: "Sends points") { isExpired in
                    // It is called once more when the time is over; the first call then waits no longer than its limit.
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
