import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// How a writer collects points, how much it holds, and how it goes about sending.
///
/// ```swift
/// var settings = WriterSettings()
/// settings.maximumAge = .seconds(60)
/// settings.whenFull = .dropNewest
/// settings.tags = ["app": "shop"]
/// ```
public struct WriterSettings: Sendable {
    /// What happens to points when there is no room.
    public enum WhenFull: Hashable, Sendable {
        /// The oldest make room, a block of them at a time; those that are being sent stay.
        case dropOldest
        /// The new one is dropped; what is held stays.
        case dropNewest
    }

    /// The unit of the timestamps.
    ///
    /// To a server, points of equal tags with equal timestamps are one. Nanoseconds tell them apart.
    public var precision = Precision.nanoseconds
    /// Tags for every point, unless it has one with the same key.
    public var tags: Tags = [:]

    /// Points leave when no other has come for this long.
    public var quiet = Duration.seconds(5)
    /// Points leave when the oldest has waited this long, even if others keep coming.
    public var maximumAge = Duration.seconds(15)
    /// The most points of one batch; a full batch leaves at once.
    public var batchPoints = 5_000
    /// The most bytes of one batch before compression; a full batch leaves at once.
    public var batchBytes = 1 << 20
    /// Whether lines are compressed on their way.
    public var compression = LineCompression.gzip()
    /// How many batches are on their way at once.
    ///
    /// With one, points arrive in the order in which they leave.
    public var maximumInFlight = 1

    /// What happens to points when there is no room.
    public var whenFull = WhenFull.dropOldest
    /// The most points that are held.
    public var maximumPoints = 100_000
    /// The most bytes that points take up in memory.
    ///
    /// A writer with a directory reads the others from there again; those that are being collected or sent are not counted.
    public var maximumBytes = 16 << 20

    /// The most bytes that points take up on the disk, of a writer with a directory.
    public var maximumDiskBytes = 64 << 20
    /// How often written points are flushed to the disk; a loss of power costs those that came since.
    public var synchronization = Duration.seconds(1)

    /// The bound of the first delay after a batch had to be kept; it doubles with each.
    public var firstDelay = Duration.seconds(1)
    /// What the bound of a delay never grows beyond.
    public var maximumDelay = Duration.seconds(120)
    /// The longest wait that a server can ask for by `Retry-After`.
    public var maximumRetryAfter = Duration.seconds(3_600)

    /// Where time comes from.
    public var timers: any Timers = SystemTimers.shared
    /// Where chance comes from.
    public var random: RandomSource = .system

    /// Settings with the values above, each of which can be set.
    public init() {}
}

/// What a writer's settings come to, in numbers that fit each other.
struct BatchingLimits {
    /// Whether points are held in files, and the bound is that of the disk.
    let isDurable: Bool
    /// How many points a block takes.
    let blockPoints: Int
    /// How many bytes a block takes, the heads of its lines included; a longer line has a block of its own.
    let blockBytes: Int

    let quiet: Duration
    let maximumAge: Duration
    let batchPoints: Int
    let batchBytes: Int
    let maximumInFlight: Int

    let maximumPoints: Int
    let maximumRoom: Int
    /// What may be in memory, of a writer with a directory.
    let maximumMemory: Int
    let whenFull: WriterSettings.WhenFull
    let pacing: Pacing
    let precision: Precision

    private static let smallestBound = 4 << 10
    private static let largestBlock = 64 << 10
    /// A block, which is dropped as a whole, is at most this part of what is held.
    private static let blockShare = 8
    /// What a block takes up in memory beside its lines.
    static let overhead = 320

    /// Fits the numbers of settings.
    init(_ settings: WriterSettings, isDurable: Bool = false) {
        self.isDurable = isDurable
        maximumPoints = max(1, settings.maximumPoints)
        maximumRoom = max(Self.smallestBound, isDurable ? settings.maximumDiskBytes : settings.maximumBytes)
        maximumMemory = max(0, settings.maximumBytes)
        batchPoints = max(1, settings.batchPoints)
        batchBytes = max(Self.smallestBound, settings.batchBytes)
        quiet = settings.quiet
        maximumAge = settings.maximumAge
        maximumInFlight = max(1, settings.maximumInFlight)
        whenFull = settings.whenFull
        precision = settings.precision
        // Between half of the bound and all of it: a writer holds many points, and none of its servers is to be hurried.
        pacing = Pacing(
            first: max(.milliseconds(1), settings.firstDelay), maximum: max(.milliseconds(1), settings.maximumDelay),
            maximumAsked: settings.maximumRetryAfter, leastShare: 0.5)
        blockPoints = max(1, min(batchPoints, maximumPoints / Self.blockShare))
        // A file takes up a whole page, however little is in it.
        let leastBlock = isDurable ? Self.smallestBound : 0
        blockBytes = max(
            leastBlock, min(Self.largestBlock, batchBytes / Self.blockShare, maximumRoom / Self.blockShare))
    }

    /// How much a block of so many bytes takes up of the room: files take up whole pages.
    func room(of bytes: Int) -> Int {
        let page = 4_096
        return isDurable ? (bytes + page - 1) / page * page : bytes + Self.overhead
    }

    /// Whether no batch, or no room, can hold a line.
    func isTooLarge(_ length: Int) -> Bool {
        length > batchBytes || room(of: LineFrame.length(of: length)) > maximumRoom
    }
}
