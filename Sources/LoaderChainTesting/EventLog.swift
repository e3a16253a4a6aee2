import LoaderChain

/// A log of the events in a test, in order, written from any thread.
///
/// ```swift
/// let log = EventLog()
/// task.addCompletionHandler { log.note("completed") }
/// await log.waitForEvents(1)
/// #expect(log.events == ["completed"])
/// ```
public final class EventLog: Sendable {
    private let log = Awaited<[String]>([])

    /// Makes an empty log.
    public init() {}

    /// Everything noted so far.
    public var events: [String] { log.read(\.self) }

    /// Notes an event.
    public func note(_ event: String) { log.change { $0.append(event) } }

    /// Waits until `count` events have been noted in all, or until the waiting Swift task is cancelled, for example by the
    /// time limit of a test.
    public func waitForEvents(_ count: Int) async { await log.wait(until: { $0.count >= count }) }
}
