/// How often the app ended, and why.
public struct ExitMetrics: Sendable, Hashable {
    /// A reason for an end.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Nothing was wrong.
        case normal = "cumulativeNormalAppExitCount"
        /// It crashed in a way that no other reason names.
        case abnormal = "cumulativeAbnormalExitCount"
        /// It did not answer for too long.
        case watchdog = "cumulativeAppWatchdogExitCount"
        /// It touched memory that it must not.
        case badAccess = "cumulativeBadAccessExitCount"
        /// It ran into what is no instruction, as after a failed check.
        case illegalInstruction = "cumulativeIllegalInstructionExitCount"
        /// It took more memory than it may.
        case memoryLimit = "cumulativeMemoryResourceLimitExitCount"
        /// Others needed the memory.
        case memoryPressure = "cumulativeMemoryPressureExitCount"
        /// It took more of the processor than it may.
        case cpuLimit = "cumulativeCPUResourceLimitExitCount"
        /// It was suspended while it held a lock on a file.
        case lockedFile = "cumulativeSuspendedWithLockedFileExitCount"
        /// A task in the background did not end in time.
        case backgroundTaskTimeout = "cumulativeBackgroundTaskAssertionTimeoutExitCount"
        /// It did not take the end of its background transfers in time.
        case backgroundURLSessionCompletionTimeout = "cumulativeBackgroundURLSessionCompletionTimeoutExitCount"
        /// It did not end a fetch in the background in time.
        case backgroundFetchCompletionTimeout = "cumulativeBackgroundFetchCompletionTimeoutExitCount"
    }

    /// Ends in front of the user.
    ///
    /// A reason that is not here did not occur, or is not counted by that system.
    public var foreground: [Reason: Int] = [:]
    /// Ends in the background.
    ///
    /// A reason that is not here did not occur, or is not counted by that system.
    public var background: [Reason: Int] = [:]

    /// Knows nothing yet.
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
