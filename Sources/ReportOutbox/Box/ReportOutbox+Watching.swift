import LoaderChain
import LoaderChainPlatformFoundation

// MARK: Watching

extension ReportOutbox {
    /// A stream of what happens from now on, for one listener; each call returns another one.
    ///
    /// The first to ask also hears what has happened since the box was opened. A stream keeps 1,000 events for a listener that
    /// is slower than the box, and then lets go of the oldest; ``counters`` count all of them. It ends with the box.
    public var events: AsyncStream<ReportEvent> { engine.listeners.stream() }

    /// Counts of what became of reports since the box was opened.
    public var counters: OutboxCounters { engine.shared.withLock { $0.counters } }

    /// Whether the user lets reports be sent, as far as the box was told.
    public var consent: ReportConsent { engine.shared.withLock { $0.box.consent } }

    /// How many reports are in the box.
    public var count: Int { engine.shared.withLock { $0.box.count } }

    /// How many bytes the reports in the box have.
    public var bytes: Int64 { engine.shared.withLock { $0.box.bytes } }

    /// The reports in the box, in the order of submission.
    public var reports: [ReportSummary] {
        engine.shared.withLock { $0.box.entries }.map { ReportSummary($0) }
    }

    /// The reports that were set aside, in the order of submission.
    public var reportsSetAside: [ReportSummary] {
        engine.shared.withLock { $0.aside.reports }.map { ReportSummary($0) }
    }
}

extension ReportOutbox: CustomStringConvertible {
    /// How many reports there are and how many are being sent.
    public var description: String {
        engine.shared.withLock {
            "ReportOutbox(\($0.box.count) reports, \($0.box.inFlight) being sent, \($0.aside.reports.count) set aside)"
        }
    }
}
