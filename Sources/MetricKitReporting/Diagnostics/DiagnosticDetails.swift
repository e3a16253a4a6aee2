/// What went wrong.
public enum DiagnosticDetails: Sendable, Hashable {
    /// The app ended without wanting to.
    case crash(CrashDetails)
    /// The app did not answer.
    case hang(HangDetails)
    /// The app took too much of the processor.
    case cpuException(CPUExceptionDetails)
    /// The app wrote too much.
    case diskWriteException(DiskWriteDetails)
    /// The app took long to start.
    case appLaunch(AppLaunchDetails)
    /// A kind that is not known here, with its name.
    case unknown(String)

    /// The kind in a word or two, such as `hang`.
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
    func details(_ reader: inout SectionReader) -> DiagnosticDetails {
        switch self {
        case .crash: .crash(CrashDetails(&reader))
        case .hang: .hang(HangDetails(&reader))
        case .cpuException: .cpuException(CPUExceptionDetails(&reader))
        case .diskWriteException: .diskWriteException(DiskWriteDetails(&reader))
        case .appLaunch: .appLaunch(AppLaunchDetails(&reader))
        }
    }
}

/// How the app ended.
public struct CrashDetails: Sendable, Hashable {
    /// What an Objective-C exception says.
    public struct ExceptionReason: Sendable, Hashable {
        /// The class of the exception.
        public var className: String?
        /// The name of the exception.
        public var exceptionName: String?
        /// The kind of the exception.
        public var exceptionType: String?
        /// What it says.
        public var composedMessage: String?
        /// What it says, with places for the arguments.
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
    /// Why it was ended.
    public var terminationReason: String?
    /// What is known of the memory that it touched.
    public var virtualMemoryRegionInfo: String?
    /// What an Objective-C exception says.
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

/// How the app did not answer.
public struct HangDetails: Sendable, Hashable {
    /// For how long.
    public var duration: Duration?
    /// In which way.
    public var type: String?

    init(_ reader: inout SectionReader) {
        duration = reader.time("hangDuration", "duration")
        type = reader.text("hangType")
    }
}

/// How the app took too much of the processor.
public struct CPUExceptionDetails: Sendable, Hashable {
    /// How much of the processor.
    public var totalCPUTime: Duration?
    /// In which time.
    public var totalSampledTime: Duration?

    init(_ reader: inout SectionReader) {
        totalCPUTime = reader.time("totalCPUTime")
        totalSampledTime = reader.time("totalSampledTime")
    }
}

/// How the app wrote too much.
public struct DiskWriteDetails: Sendable, Hashable {
    /// How much, in bytes.
    public var writtenBytes: Double?

    init(_ reader: inout SectionReader) { writtenBytes = reader.number(.bytes, "writesCaused", "totalWritesCaused") }
}

/// How the app took long to start.
public struct AppLaunchDetails: Sendable, Hashable {
    /// How long.
    public var duration: Duration?

    init(_ reader: inout SectionReader) { duration = reader.time("launchDuration") }
}
