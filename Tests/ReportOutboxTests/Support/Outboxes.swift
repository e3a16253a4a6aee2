import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting

@testable import ReportOutbox

/// Records all events of an outbox.
final class EventBook: Sendable {
    private let state = Locked<[ReportEvent]>([])
    private let log = EventLog()

    var events: [ReportEvent] { state.withLock { $0 } }

    func note(_ event: ReportEvent) {
        state.withLock { $0.append(event) }
        log.note("\(event)")
    }

    /// Waits until the given number of events was recorded.
    func waitForEvents(_ count: Int) async { await log.waitForEvents(count) }
}

extension OutboxSettings {
    /// Settings with manual timers, and with a seeded source of random numbers.
    static func test(_ timers: ManualTimers = ManualTimers(), seed: UInt64 = 1) -> OutboxSettings {
        var settings = OutboxSettings()
        settings.timers = timers
        settings.random = RandomSource(seed: seed)
        return settings
    }
}

let upload = HTTPRequest(method: .put, host: "reports.example.com", path: "/v1/reports")

extension ManualTimers {
    /// Advances the time, and pauses whenever a timer has caused work for an outbox.
    ///
    /// An outbox works on a queue of its own. If the clock moved meanwhile, the number of its attempts, and its readings of
    /// the two clocks, would depend on the speed of the threads.
    func advance(by duration: Duration, draining drain: () -> Void) {
        // Earlier calls must set the outbox's alarm before the time moves.
        drain()
        let end = now.advanced(by: duration)
        while let next = nextDeadline, next <= end {
            advanceToNext()
            drain()
        }
        advance(by: now.duration(to: end))
        drain()
    }
}

extension ReportOutbox {
    /// Ends the outbox like the end of its process, except for the descriptors.
    func abandon() { engine.stop() }
}

func bytes(_ count: Int, seed: UInt64 = 7) -> Data {
    var generator = SeededGenerator(seed: seed)
    return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
}
