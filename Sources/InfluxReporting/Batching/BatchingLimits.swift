// Batching: collects points in blocks, and decides when they leave. It may use Sending and Results.

import LoaderChain
import LoaderChainPlatformFoundation

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
