/// How often the app exited, by reason.
public struct ExitMetrics: Sendable, Hashable {
    /// A reason for an exit.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// A normal exit.
        case normal = "cumulativeNormalAppExitCount"
        /// A crash that no other reason covers.
        case abnormal = "cumulativeAbnormalExitCount"
        /// The watchdog ended the app because it did not respond.
        case watchdog = "cumulativeAppWatchdogExitCount"
        /// An invalid memory access.
        case badAccess = "cumulativeBadAccessExitCount"
        /// An illegal instruction, as after a failed precondition.
        case illegalInstruction = "cumulativeIllegalInstructionExitCount"
        /// The app exceeded its memory limit.
        case memoryLimit = "cumulativeMemoryResourceLimitExitCount"
        /// The system needed the memory.
        case memoryPressure = "cumulativeMemoryPressureExitCount"
        /// The app exceeded its CPU limit.
        case cpuLimit = "cumulativeCPUResourceLimitExitCount"
        /// The app was suspended while it held a file lock.
        case lockedFile = "cumulativeSuspendedWithLockedFileExitCount"
        /// A background task did not end in time.
        case backgroundTaskTimeout = "cumulativeBackgroundTaskAssertionTimeoutExitCount"
        /// The app did not complete its background URL session in time.
        case backgroundURLSessionCompletionTimeout = "cumulativeBackgroundURLSessionCompletionTimeoutExitCount"
        /// A background fetch did not end in time.
        case backgroundFetchCompletionTimeout = "cumulativeBackgroundFetchCompletionTimeoutExitCount"
    }

    /// Exits in the foreground.
    ///
    /// A reason that is missing did not occur or is not counted by the system.
    public var foreground: [Reason: Int] = [:]
    /// Exits in the background.
    ///
    /// A reason that is missing did not occur or is not counted by the system.
    public var background: [Reason: Int] = [:]

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        foreground = reader.section("foregroundExitData") { Self.counts(&$0) } ?? [:]
        background = reader.section("backgroundExitData") { Self.counts(&$0) } ?? [:]
    }

    private static func counts(_ reader: inout SectionReader) -> [Reason: Int] {
        var counts: [Reason: Int] = [:]
        for reason in Reason.allCases { counts[reason] = reader.count(reason.rawValue) }
        return counts
    }
}
