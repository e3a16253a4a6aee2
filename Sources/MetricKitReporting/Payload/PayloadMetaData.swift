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
        // A negative number means that it is not known.
        processIdentifier = reader.integer("pid").flatMap { $0 < 0 ? nil : $0 }
    }
}
