/// What the result of an attempt means for a report.
public enum ReportVerdict: Hashable, Sendable {
    /// The server has it.
    case delivered
    /// It is tried again after a while, as often and as long as the settings allow.
    case retry
    /// The server was not reached, or nothing was sent. The attempt does not count, and nothing else is tried there for a while.
    case waitForConnection
    /// The attempt was stopped, which says nothing about the report. It does not count.
    case interrupted
    /// It will never be taken; it is kept for inspection.
    case setAside
    /// It will never be taken; it goes.
    case drop
}
