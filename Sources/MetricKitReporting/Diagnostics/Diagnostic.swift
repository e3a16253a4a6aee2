/// A diagnostic, such as a crash or a hang.
public struct Diagnostic: Sendable, Hashable {
    /// What happened, with the details of its kind.
    public var details: DiagnosticDetails
    /// The version of the app.
    public var appVersion: String?
    /// The app, the system and the device.
    public var metaData: PayloadMetaData
    /// The call stacks.
    public var callStackTree: CallStackTree?
    /// Values that are not in the model, or that could not be parsed.
    public internal(set) var leftovers: [Leftover]
    /// The JSON of the diagnostic.
    public internal(set) var json: RawJSON

    init(_ node: JSONNode, section key: String) {
        let context = PayloadContext(node)
        let section = DiagnosticSection(rawValue: key)
        var reader = SectionReader(node, path: "", context)
        let read = reader.section("diagnosticMetaData") { reader in
            (
                details: section?.details(&reader), version: reader.text("appVersion", "applicationVersion"),
                metaData: PayloadMetaData(&reader)
            )
        }
        details = read?.details ?? Self.bare(section, key)
        appVersion = read?.version
        metaData = read?.metaData ?? PayloadMetaData()
        // The version of the format, not of the app.
        _ = reader.text("version")
        callStackTree = reader.take(["callStackTree"]) { CallStackTree($0, path: $1, context) }
        reader.leaveRest()
        leftovers = context.leftovers
        json = RawJSON(node.bytes)
    }

    /// Reads the result of an iOS 27 report.
    init?(result node: JSONNode, environment: ReportEnvironment?) {
        guard let (name, value) = node.namedResult else { return nil }
        let context = PayloadContext(node)
        let section = DiagnosticSection(result: name)
        let path = JSONNode.shortened(name)
        var reader = SectionReader(value, path: path, context)
        details = section?.details(&reader) ?? Self.bare(section, name)
        callStackTree = reader.take(["callStackTree"]) { CallStackTree($0, path: $1, context) }
        reader.leaveRest()
        if value.kind != .object, value.kind != .null { context.leave(value, at: path, .notUnderstood) }
        context.leaveOthers(than: node, at: "")
        appVersion = environment?.appVersion
        metaData = environment?.metaData ?? PayloadMetaData()
        leftovers = context.leftovers
        json = RawJSON(node.bytes)
    }

    /// The details without any values.
    private static func bare(_ section: DiagnosticSection?, _ name: String) -> DiagnosticDetails {
        guard let section else { return .unknown(name) }
        let context = PayloadContext()
        var nothing = SectionReader(nil, path: "", context)
        return section.details(&nothing)
    }
}

/// The kind of a diagnostic, with its details.
public enum DiagnosticDetails: Sendable, Hashable {
    /// The app crashed.
    case crash(CrashDetails)
    /// The app did not respond.
    case hang(HangDetails)
    /// The app used too much CPU time.
    case cpuException(CPUExceptionDetails)
    /// The app wrote too much.
    case diskWriteException(DiskWriteDetails)
    /// The app took long to launch.
    case appLaunch(AppLaunchDetails)
    /// An unknown kind, with its name.
    case unknown(String)

    /// The name of the kind, such as `hang`.
    public var name: String {
        switch self {
        case .crash: "crash"
        case .hang: "hang"
        case .cpuException: "CPU exception"
        case .diskWriteException: "disk write exception"
        case .appLaunch: "app launch"
        case .unknown(let name): name
        }
    }
}

extension DiagnosticSection {
    fileprivate func details(_ reader: inout SectionReader) -> DiagnosticDetails {
        switch self {
        case .crash: .crash(CrashDetails(&reader))
        case .hang: .hang(HangDetails(&reader))
        case .cpuException: .cpuException(CPUExceptionDetails(&reader))
        case .diskWriteException: .diskWriteException(DiskWriteDetails(&reader))
        case .appLaunch: .appLaunch(AppLaunchDetails(&reader))
        }
    }
}

/// The details of a crash.
public struct CrashDetails: Sendable, Hashable {
    /// An Objective-C exception.
    public struct ExceptionReason: Sendable, Hashable {
        /// The class of the exception.
        public var className: String?
        /// The name of the exception.
        public var exceptionName: String?
        /// The kind of the exception.
        public var exceptionType: String?
        /// The message.
        public var composedMessage: String?
        /// The format string of the message.
        public var formatString: String?

        init(_ reader: inout SectionReader) {
            className = reader.text("className")
            exceptionName = reader.text("exceptionName")
            exceptionType = reader.text("exceptionType")
            composedMessage = reader.text("composedMessage")
            formatString = reader.text("formatString")
        }
    }

    /// The number of the Mach exception.
    public var exceptionType: Int?
    /// The code of the Mach exception.
    public var exceptionCode: Int?
    /// The number of the signal.
    public var signal: Int?
    /// The termination reason.
    public var terminationReason: String?
    /// The memory region of the invalid access.
    public var virtualMemoryRegionInfo: String?
    /// An Objective-C exception.
    public var exceptionReason: ExceptionReason?

    init(_ reader: inout SectionReader) {
        exceptionType = reader.integer("exceptionType")
        exceptionCode = reader.integer("exceptionCode")
        signal = reader.integer("signal")
        terminationReason = reader.text("terminationReason")
        virtualMemoryRegionInfo = reader.text("virtualMemoryRegionInfo")
        exceptionReason = reader.section("exceptionReason", "objectiveCexceptionReason") { ExceptionReason(&$0) }
    }
}

/// The details of a hang.
public struct HangDetails: Sendable, Hashable {
    /// The duration.
    public var duration: Duration?
    /// The type of the hang.
    public var type: String?

    init(_ reader: inout SectionReader) {
        duration = reader.time("hangDuration", "duration")
        type = reader.text("hangType")
    }
}

/// The details of a CPU exception.
public struct CPUExceptionDetails: Sendable, Hashable {
    /// The CPU time.
    public var totalCPUTime: Duration?
    /// The time over which samples were taken.
    public var totalSampledTime: Duration?

    init(_ reader: inout SectionReader) {
        totalCPUTime = reader.time("totalCPUTime")
        totalSampledTime = reader.time("totalSampledTime")
    }
}

/// The details of a disk write exception.
public struct DiskWriteDetails: Sendable, Hashable {
    /// The written bytes.
    public var writtenBytes: Double?

    init(_ reader: inout SectionReader) { writtenBytes = reader.number(.bytes, "writesCaused", "totalWritesCaused") }
}

/// The details of a slow launch.
public struct AppLaunchDetails: Sendable, Hashable {
    /// The duration.
    public var duration: Duration?

    init(_ reader: inout SectionReader) { duration = reader.time("launchDuration") }
}
