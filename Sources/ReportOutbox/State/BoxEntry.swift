import LoaderChain

/// A report in the box.
struct BoxEntry: Sendable {
    enum Phase: Sendable {
        /// Its file is being written, and nothing was promised yet.
        case writing
        /// The app is being asked about it.
        case held
        /// It waits for its time, or for its turn.
        case waiting
        /// An attempt is under way.
        case sending
        /// It is done with, and its file is being seen to.
        case leaving
    }

    /// The name of its file, which is the state that the next launch finds.
    var name: RecordName
    var phase: Phase
    /// Since when it counts as old, in the box's time; before the box was opened for one that was found.
    var born: TimerInstant
    /// When it may next be tried, in the box's time.
    var due: TimerInstant
    /// Why it is to be set aside, if that could not be done.
    var lossToSetAside: ReportLoss?
    /// Whether the app wants it to be tried before its time.
    var isHurried = false
    /// Whether an earlier launch left it.
    var wasFound = false
    /// How often in a row its bytes could not be read.
    var readFailures = 0
    /// Attempts that have begun and could not be written down.
    var unwrittenAttempts: UInt32 = 0

    /// How many attempts have begun and were not taken back.
    var attempts: UInt32 {
        let (attempts, isTooMany) = name.attempts.addingReportingOverflow(unwrittenAttempts)
        return isTooMany ? .max : attempts
    }
}

/// Where an entry is; of no use once the entry is gone.
struct BoxHandle: Hashable, Sendable {
    let slot: Int
    let sequence: UInt64
}
