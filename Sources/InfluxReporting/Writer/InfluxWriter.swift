import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

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
        sender: any LineSender, dialect: LineDialect = .portable, settings: WriterSettings, stripes: Int? = nil,
        onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) {
        self.settings = settings
        let limits = BatchingLimits(
            settings, stripes: stripes, maximumPoints: settings.maximumPoints, maximumRoom: settings.maximumBytes)
        engine = WriterEngine(
            limits, settings: settings, dialect: dialect, store: MemoryStore(), sender: sender, onEvent: onEvent)
    }

    /// Makes a writer that keeps its points in a directory, for any destination that has a sender.
    init(
        sender: any LineSender, dialect: LineDialect = .portable, directory: any Directory, settings: WriterSettings,
        stripes: Int? = nil, onEvent: (@Sendable (WriterEvent) -> Void)? = nil
    ) throws(WriterError) {
        self.settings = settings
        let limits = BatchingLimits(
            settings, stripes: stripes, maximumPoints: settings.maximumPoints, maximumRoom: settings.maximumDiskBytes)
        let store = try JournalStore(directory, precision: settings.precision, random: settings.random)
        let remains = try store.takeRemains()
        engine = WriterEngine(
            limits, settings: settings, dialect: dialect, store: store, sender: sender, onEvent: onEvent)
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
