/// What the program answers to whoever started it.
package enum ProgramStatus: Int32, Sendable {
    /// It did what it was asked to, and what it watched was healthy.
    case success = 0
    /// What it watched was not healthy all the time, or what it looked for is not there.
    case unhealthy = 1
    /// It was asked for something that it does not understand.
    case usage = 2
    /// It could not do its work: a file, a server or a box failed it, or a metric was lost.
    case failure = 3

    /// The lines about exit statuses in a help text.
    static let table: [(status: ProgramStatus, meaning: String)] = [
        (.success, "all was well"),
        (.unhealthy, "an endpoint was not healthy, or a report is not there"),
        (.usage, "the arguments make no sense"),
        (.failure, "a file, a box or a database failed, or metrics were lost"),
    ]
}

/// Why the program ends early: one line that says what is wrong and what to do.
struct ProgramError: Error, Hashable, Sendable {
    let status: ProgramStatus
    let message: String

    init(_ status: ProgramStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
