import LoaderChain
import LoaderChainTesting

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Everything that happens to a box, written down as it happens.
final class EventBook: Sendable {
    private let state = Locked<[ReportEvent]>([])
    private let log = EventLog()

    var events: [ReportEvent] { state.withLock { $0 } }

    func note(_ event: ReportEvent) {
        state.withLock { $0.append(event) }
        log.note("\(event)")
    }

    /// Waits until so many events have been noted in all.
    func waitForEvents(_ count: Int) async { await log.waitForEvents(count) }
}

extension OutboxSettings {
    /// A settings on manual timers, with a seeded source of random numbers.
    static func test(_ timers: ManualTimers = ManualTimers(), seed: UInt64 = 1) -> OutboxSettings {
        var settings = OutboxSettings()
        settings.timers = timers
        settings.random = RandomSource(seed: seed)
        return settings
    }
}

let upload = HTTPRequest(method: .put, host: "reports.example.com", path: "/v1/reports")

extension ManualTimers {
    /// Lets time pass, and stands still whenever a timer has given a box something to do.
    ///
    /// A box works on a queue of its own. If the clock moved meanwhile, it would depend on which thread is quicker how
    /// often the box tries in that time, and what it reads of the two clocks, one after the other.
    func advance(by duration: Duration, draining drain: () -> Void) {
        // What the box was told before sets its alarm before the time moves.
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
    /// Ends the box as the end of its process would, but for the descriptors.
    func abandon() { engine.stop() }
}

func bytes(_ count: Int, seed: UInt64 = 7) -> Data {
    var generator = SeededGenerator(seed: seed)
    return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
}
