import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// The settings of a writer: how it collects points, how many it holds, and how it sends them.
///
/// ```swift
/// var settings = WriterSettings()
/// settings.maximumAge = .seconds(60)
/// settings.whenFull = .dropNewest
/// settings.tags = ["app": "shop"]
/// ```
public struct WriterSettings: Sendable {
    /// The policy for a writer that holds its maximum.
    public enum WhenFull: Hashable, Sendable {
        /// Drops the oldest points, one block at a time, but none that are in flight.
        case dropOldest
        /// Drops the new point.
        case dropNewest
    }

    /// The unit of the timestamps.
    ///
    /// To a server, two points with the same tags and the same timestamp are one point. Nanoseconds distinguish them.
    public var precision = Precision.nanoseconds
    /// Tags for every point; a point's own tag with the same key overrides them.
    ///
    /// None may have the name of a field: InfluxDB 3 refuses such points.
    public var tags: Tags = [:]

    /// The time without a new point after which a batch is sent.
    public var idleInterval = Duration.seconds(5)
    /// The age of the oldest waiting point at which a batch is sent, even if new points keep coming.
    public var maximumAge = Duration.seconds(15)
    /// The maximum number of points in a batch; a full batch is sent at once.
    public var batchPoints = 5_000
    /// The maximum number of bytes in a batch before compression; a full batch is sent at once.
    public var batchBytes = 1 << 20
    /// The compression of the requests.
    public var compression = LineCompression.gzip()
    /// The maximum number of batches in flight.
    ///
    /// With 1, points are delivered in the order in which they are sent.
    public var maximumInFlight = 1

    /// The policy for a writer that holds its maximum.
    public var whenFull = WhenFull.dropOldest
    /// The maximum number of points that the writer holds.
    public var maximumPoints = 100_000
    /// The maximum number of bytes of points in memory.
    ///
    /// A writer with a directory reads further points from their files; points that are being collected or sent are not counted,
    /// nor are those of a failed batch. Together, at most ``maximumInFlight`` batches are being sent or have failed.
    public var maximumBytes = 16 << 20

    /// The maximum number of bytes of points on the disk, for a writer with a directory.
    public var maximumDiskBytes = 64 << 20
    /// The interval at which files are flushed to the disk; a loss of power costs the points written since.
    ///
    /// While the disk fails, it is tried once a second at most.
    public var synchronization = Duration.seconds(1)

    /// The maximum delay after the first failed batch; it doubles with each further failure.
    public var firstDelay = Duration.seconds(1)
    /// The maximum delay after any number of failures.
    public var maximumDelay = Duration.seconds(120)
    /// The maximum delay that a server can ask for with `Retry-After`.
    public var maximumRetryAfter = Duration.seconds(3_600)

    /// The clock and its timers.
    public var timers: any Timers = SystemTimers.shared
    /// The source of random numbers.
    public var random: RandomSource = .system

    /// Creates settings with the default values.
    public init() {}
}

/// The limits that follow from a writer's settings, made consistent with each other.
struct BatchingLimits {
    /// Whether points are stored in files, so that the maximum size is that of the disk.
    let isDurable: Bool
    /// The maximum number of points in a block.
    let blockPoints: Int
    /// The maximum number of bytes in a block, including the heads of its lines; a longer line gets its own block.
    let blockBytes: Int

    let idleInterval: Duration
    let maximumAge: Duration
    let batchPoints: Int
    let batchBytes: Int
    let maximumInFlight: Int

    let maximumPoints: Int
    let maximumFootprint: Int
    /// The maximum number of bytes in memory, for a writer with a directory.
    let maximumMemory: Int
    let whenFull: WriterSettings.WhenFull
    let pacing: Pacing
    let precision: Precision

    private static let smallestBound = 4 << 10
    private static let largestBlock = 64 << 10
    /// A block is dropped as a whole, so its size is at most this fraction of the writer's maximum.
    private static let blockShare = 8
    /// The memory of a block in addition to its lines.
    static let overhead = 320

    /// Derives the limits from settings; values out of range are clamped.
    init(_ settings: WriterSettings, isDurable: Bool = false) {
        self.isDurable = isDurable
        maximumPoints = max(1, settings.maximumPoints)
        maximumFootprint = max(Self.smallestBound, isDurable ? settings.maximumDiskBytes : settings.maximumBytes)
        maximumMemory = max(0, settings.maximumBytes)
        batchPoints = max(1, settings.batchPoints)
        batchBytes = max(Self.smallestBound, settings.batchBytes)
        idleInterval = settings.idleInterval
        maximumAge = settings.maximumAge
        maximumInFlight = max(1, settings.maximumInFlight)
        whenFull = settings.whenFull
        precision = settings.precision
        // At least half of the maximum delay: a writer can hold many points, so it has no reason to hurry a server.
        pacing = Pacing(
            first: max(.milliseconds(1), settings.firstDelay), maximum: max(.milliseconds(1), settings.maximumDelay),
            maximumAsked: settings.maximumRetryAfter, leastShare: 0.5)
        blockPoints = max(1, min(batchPoints, maximumPoints / Self.blockShare))
        // Even a small file takes a whole page.
        let leastBlock = isDurable ? Self.smallestBound : 0
        blockBytes = max(
            leastBlock, min(Self.largestBlock, batchBytes / Self.blockShare, maximumFootprint / Self.blockShare))
    }

    /// The footprint of a block: files take whole pages, and blocks in memory have an overhead.
    func footprint(of bytes: Int) -> Int {
        let page = 4_096
        return isDurable ? (bytes + page - 1) / page * page : bytes + Self.overhead
    }

    /// Whether a line exceeds the maximum size of a batch or of the writer.
    func isTooLarge(_ length: Int) -> Bool {
        length > batchBytes || footprint(of: LineFrame.length(of: length)) > maximumFootprint
    }
}
