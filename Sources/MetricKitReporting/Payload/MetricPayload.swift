import LoaderChainPlatformFoundation

/// The metrics of an app over a day.
///
/// ```swift
/// let payload = try MetricPayload(data)
/// print(payload.applicationLaunch?.timeToFirstDraw?.median ?? .zero)
/// print(payload.applicationTime?.foreground ?? .zero)
/// ```
///
/// Every value may be missing, since systems leave out what they do not know. Values that the model does not know or
/// not understand are in ``leftovers``; ``data`` has the whole payload.
public struct MetricPayload: Sendable, Hashable {
    /// The latest version of the app.
    public var appVersion: String?
    /// Whether the payload covers an older version too, or may do so.
    public var includesMultipleAppVersions = false
    /// The time that the payload covers.
    public var timeRange = PayloadTimeRange()
    /// The app, the system and the device.
    public var metaData: PayloadMetaData?

    /// Launch times.
    public var applicationLaunch: LaunchMetrics?
    /// How responsive the app was.
    public var applicationResponsiveness: ResponsivenessMetrics?
    /// How long the app ran.
    public var applicationTime: ApplicationTimeMetrics?
    /// How often the app exited, by reason.
    public var applicationExit: ExitMetrics?
    /// How smooth the animations are.
    public var animation: AnimationMetrics?
    /// CPU usage.
    public var cpu: CPUMetrics?
    /// GPU usage.
    public var gpu: GPUMetrics?
    /// Memory usage.
    public var memory: MemoryMetrics?
    /// Display usage.
    public var display: DisplayMetrics?
    /// The app's disk writes.
    public var diskIO: DiskIOMetrics?
    /// The disk space that the app uses.
    public var diskSpaceUsage: DiskSpaceUsageMetrics?
    /// Network transfers.
    public var networkTransfer: NetworkTransferMetrics?
    /// The signal of the mobile network.
    public var cellularCondition: CellularConditionMetrics?
    /// How long the app used location services.
    public var location: LocationMetrics?
    /// The app's own signposts.
    public var signposts: [SignpostMetrics] = []

    /// Values that the model does not know, or that could not be understood.
    public internal(set) var leftovers: [Leftover] = []
    /// The bytes of the payload.
    public internal(set) var data = Data()

    /// Makes an empty payload, to be filled by hand.
    public init() {}

    /// Reads a payload, as `MXMetricPayload.jsonRepresentation()` gives it, or as a `MetricReport` encodes itself.
    ///
    /// - Parameter data: the JSON.
    /// - Throws: ``PayloadError`` if the data is not JSON or not a payload of metrics.
    public init(_ data: Data) throws(PayloadError) {
        let document = try JSONDocument(payload: data)
        if PayloadKind(document.root) == .diagnostics {
            throw PayloadError(code: .notAPayload, reason: "This is a payload of diagnostics, and not of metrics.")
        }
        try self.init(document, data)
    }
}
