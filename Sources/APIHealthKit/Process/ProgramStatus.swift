/// The exit status of the program.
package enum ProgramStatus: Int32, Sendable {
    /// It succeeded, and everything it watched was healthy.
    case success = 0
    /// An endpoint failed a check, or a report does not exist.
    case unhealthy = 1
    /// The arguments are invalid.
    case usage = 2
    /// The output, a file, a server or an outbox failed, or metrics were lost.
    case failure = 3

    static let table: [(status: ProgramStatus, meaning: String)] = [
        (.success, "success"),
        (.unhealthy, "an endpoint was unhealthy, a report was not found, or a file has no requests"),
        (.usage, "the arguments are invalid"),
        (.failure, "the output, a file, an outbox or a database failed, or metrics were lost"),
    ]
}

/// An error that ends the program, as one line that says what is wrong and what to do.
struct ProgramError: Error, Hashable, Sendable {
    let status: ProgramStatus
    let message: String

    init(_ status: ProgramStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
