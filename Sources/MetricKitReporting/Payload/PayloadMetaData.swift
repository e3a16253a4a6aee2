/// Where a payload comes from.
public struct PayloadMetaData: Sendable, Hashable {
    /// The number of the app's build.
    public var appBuildVersion: String?
    /// The system, such as `iPhone OS 13.1.3 (17A878)`.
    public var osVersion: String?
    /// The device, such as `iPhone9,2`.
    public var deviceType: String?
    /// The region that the device is set to, such as `US`.
    public var regionFormat: String?
    /// The kind of processor, such as `arm64e`.
    public var platformArchitecture: String?
    /// The identifier of the app.
    public var bundleIdentifier: String?
    /// Whether the app came from TestFlight.
    public var isTestFlightApp: Bool?
    /// Whether the device was saving energy.
    public var isLowPowerModeEnabled: Bool?
    /// The number of the process.
    public var processIdentifier: Int?

    /// Knows nothing yet.
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
        // Less than zero says that it is not known.
        processIdentifier = reader.integer("pid").flatMap { $0 < 0 ? nil : $0 }
    }
}
