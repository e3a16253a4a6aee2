#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the system has measured of an app in a day.
///
/// ```swift
/// let payload = try MetricPayload(data)
/// print(payload.applicationLaunch?.timeToFirstDraw?.median ?? .zero)
/// print(payload.applicationTime?.foreground ?? .zero)
/// ```
///
/// Everything may be missing, since systems leave out what they do not know. What the model has no place for, and what it does
/// not understand, is in ``leftovers``; ``data`` is everything.
public struct MetricPayload: Sendable, Hashable {
    /// The version of the app, at the end of the time.
    public var appVersion: String?
    /// Whether an older version of the app is measured along, or may be.
    public var includesMultipleAppVersions = false
    /// The time that the payload tells of.
    public var timeRange = PayloadTimeRange()
    /// Where the payload comes from.
    public var metaData: PayloadMetaData?

    /// How long the app took to start.
    public var applicationLaunch: LaunchMetrics?
    /// How long the app kept its users waiting.
    public var applicationResponsiveness: ResponsivenessMetrics?
    /// How long the app ran.
    public var applicationTime: ApplicationTimeMetrics?
    /// How often the app ended, and why.
    public var applicationExit: ExitMetrics?
    /// How well the app moves.
    public var animation: AnimationMetrics?
    /// What the app asked of the processor.
    public var cpu: CPUMetrics?
    /// What the app asked of the graphics processor.
    public var gpu: GPUMetrics?
    /// What the app took of the memory.
    public var memory: MemoryMetrics?
    /// How bright the app is.
    public var display: DisplayMetrics?
    /// What the app wrote.
    public var diskIO: DiskIOMetrics?
    /// What the app's files take of the disk.
    public var diskSpaceUsage: DiskSpaceUsageMetrics?
    /// What went over the network.
    public var networkTransfer: NetworkTransferMetrics?
    /// How good the mobile network was.
    public var cellularCondition: CellularConditionMetrics?
    /// How long the app asked where the device is.
    public var location: LocationMetrics?
    /// What the app measured itself.
    public var signposts: [SignpostMetrics] = []

    /// What the model has no place for, and what it did not understand.
    public internal(set) var leftovers: [Leftover] = []
    /// The payload as it came.
    public internal(set) var data = Data()

    /// Knows nothing yet, for one that is put together by hand.
    public init() {}

    /// Reads a payload, as `MXMetricPayload.jsonRepresentation()` gives it, or as a `MetricReport` encodes itself.
    ///
    /// - Parameter data: the JSON.
    /// - Throws: ``PayloadError`` if it is no JSON, or no payload of metrics.
    public init(_ data: Data) throws(PayloadError) {
        let document = try JSONDocument(payload: data)
        if PayloadKind(document.root) == .diagnostics {
            throw PayloadError(code: .notAPayload, reason: "This is a payload of diagnostics, and not of metrics.")
        }
        try self.init(document, data)
    }
}
