import DurableFilesTesting
import LoaderChain
import LoaderChainTesting

@testable import ReportOutbox

/// An outbox in memory with a server that answers at once, on manual timers.
final class TestOutbox: Sendable {
    let disk: MemoryDirectory
    let timers = ManualTimers()
    let server: FakeServer
    let book = EventBook()
    let outbox: ReportOutbox

    init(
        _ server: FakeServer = FakeServer(), disk: MemoryDirectory = MemoryDirectory(), sends: Bool = true,
        _ change: (inout OutboxSettings) -> Void = { _ in },
        existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)? = nil
    ) throws {
        var settings = OutboxSettings.test(timers)
        change(&settings)
        self.server = server
        self.disk = disk
        outbox = try ReportOutbox(
            files: disk, chain: server, settings: settings, startsSending: sends, existing: existing,
            onEvent: { [book] in book.note($0) })
        outbox.drain()
    }

    var events: [ReportEvent] { book.events }

    @discardableResult
    func submit(_ id: String, _ count: Int = 10, to request: HTTPRequest = upload) throws -> ReportID {
        defer { outbox.drain() }
        return try outbox.submit(bytes(count), identifier: id, request: request)
    }

    func advance(_ duration: Duration) { timers.advance(by: duration, draining: outbox.drain) }

    /// The times of the attempts in seconds, until no report waits or the maximum is reached.
    func attemptTimes(atMost count: Int) -> [Double] {
        var times: [Double] = []
        var seen = 0
        while times.count < count {
            while seen < server.receipts.count {
                times.append(TimerInstant(nanoseconds: 0).duration(to: timers.now) / .seconds(1))
                seen += 1
            }
            guard timers.advanceToNext() else { break }
            outbox.drain()
        }
        return times
    }
}
