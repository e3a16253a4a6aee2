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
    /// A writer with a directory reads the others from there again; those that are being filled or sent are not counted.
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
    /// How many blocks may be filled at once, each by threads of its own.
    var stripes: Int
    /// How many points a block takes.
    var blockPoints: Int
    /// How much room a block has.
    var blockRoom: Int

    var quiet: Duration
    var maximumAge: Duration
    var batchPoints: Int
    var batchBytes: Int
    var maximumInFlight: Int

    var maximumPoints: Int
    var maximumRoom: Int
    var whenFull: WriterSettings.WhenFull
    var pacing: Pacing

    private static let smallestBlock = 4 << 10
    private static let largestBlock = 64 << 10
    /// The blocks that are being filled may take up this part of what is held.
    private static let blockShare = 8

    /// Fits the numbers of settings.
    ///
    /// - Parameters:
    ///   - settings: how the writer collects points, and how many it holds.
    ///   - stripes: how many stripes there are; nil for as many as the machine and the bounds call for.
    ///   - maximumPoints: the most points that are held.
    ///   - maximumRoom: the most bytes that are held.
    init(_ settings: WriterSettings, stripes: Int? = nil, maximumPoints: Int, maximumRoom: Int) {
        self.maximumPoints = max(1, maximumPoints)
        self.maximumRoom = max(Self.smallestBlock, maximumRoom)
        batchPoints = max(1, settings.batchPoints)
        batchBytes = max(Self.smallestBlock, settings.batchBytes)
        quiet = settings.quiet
        maximumAge = settings.maximumAge
        maximumInFlight = max(1, settings.maximumInFlight)
        whenFull = settings.whenFull
        // Between half of the bound and all of it: a writer holds many points, and none of its servers is to be hurried.
        pacing = Pacing(
            first: max(.milliseconds(1), settings.firstDelay), maximum: max(.milliseconds(1), settings.maximumDelay),
            maximumAsked: settings.maximumRetryAfter, leastShare: 0.5)

        // Several to a processor, since a thread may lose its processor in the middle of things. Few points need few.
        let stripesPerProcessor = 8
        let mostStripes = 16
        let wanted = min(mostStripes, ProcessInfo.processInfo.activeProcessorCount * stripesPerProcessor)
        let few = min(batchPoints, self.maximumPoints, self.maximumRoom / Self.smallestBlock) / Self.blockShare
        let stripes = stripes ?? max(1, min(wanted, few))
        self.stripes = stripes
        blockPoints = max(1, min(batchPoints / stripes, self.maximumPoints / (stripes * Self.blockShare)))
        let room = min(batchBytes / stripes, self.maximumRoom / (stripes * Self.blockShare))
        blockRoom = min(Self.largestBlock, max(Self.smallestBlock, room))
    }
}
