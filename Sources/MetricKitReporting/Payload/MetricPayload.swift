// Payload: payloads of metrics, their sections, and their decoding. Depends on JSON and Quantities; Diagnostics and higher
// folders may use it.

import LoaderChainPlatformFoundation

/// The metrics of an app over a day.
///
/// ```swift
/// let payload = try MetricPayload(data)
/// print(payload.applicationLaunch?.timeToFirstDraw?.median ?? .zero)
/// print(payload.applicationTime?.foreground ?? .zero)
/// ```
///
/// Every value may be missing, since systems omit values that they do not know. Values that are not in the model or cannot be
/// parsed are in ``leftovers``; ``data`` contains the whole payload.
public struct MetricPayload: Sendable, Hashable {
    /// The latest version of the app.
    public var appVersion: String?
    /// Whether the payload covers an older version too, or might do so.
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

    /// Values that are not in the model, or that could not be parsed.
    public internal(set) var leftovers: [Leftover] = []
    /// The bytes of the payload.
    public internal(set) var data = Data()

    /// Creates an empty payload.
    public init() {}

    /// Reads a payload from `MXMetricPayload.jsonRepresentation()`, or from an encoded `MetricReport`.
    ///
    /// - Parameter data: the JSON.
    /// - Throws: ``PayloadError`` if the data is not JSON, not a payload of metrics, or too large.
    public init(_ data: Data) throws(PayloadError) {
        let document = try JSONDocument(payload: data)
        if PayloadKind(document.root) == .diagnostics {
            throw PayloadError(code: .notAPayload, reason: "The JSON is a payload of diagnostics, not of metrics.")
        }
        try self.init(document, data)
    }
}

/// The app, the system and the device of a payload.
public struct PayloadMetaData: Sendable, Hashable {
    /// The build number of the app.
    public var appBuildVersion: String?
    /// The system, such as `iPhone OS 13.1.3 (17A878)`.
    public var osVersion: String?
    /// The device, such as `iPhone9,2`.
    public var deviceType: String?
    /// The region setting of the device, such as `US`.
    public var regionFormat: String?
    /// The architecture, such as `arm64e`.
    public var platformArchitecture: String?
    /// The bundle identifier of the app.
    public var bundleIdentifier: String?
    /// Whether the app came from TestFlight.
    public var isTestFlightApp: Bool?
    /// Whether low power mode was on.
    public var isLowPowerModeEnabled: Bool?
    /// The process identifier.
    public var processIdentifier: Int?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        appBuildVersion = reader.text("appBuildVersion", "applicationBuildVersion")
        osVersion = reader.text("osVersion")
        deviceType = reader.text("deviceType")
        regionFormat = reader.text("regionFormat")
        platformArchitecture = reader.text("platformArchitecture")
        bundleIdentifier = reader.text("bundleIdentifier", "bundleID")
        isTestFlightApp = reader.bool("isTestFlightApp")
        isLowPowerModeEnabled = reader.bool("lowPowerModeEnabled", "isLowPowerModeEnabled")
        // A negative number means that the identifier is unknown.
        processIdentifier = reader.integer("pid").flatMap { $0 < 0 ? nil : $0 }
    }
}
