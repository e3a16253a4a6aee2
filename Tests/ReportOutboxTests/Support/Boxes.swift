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
    func reaches(_ count: Int) async { await log.reaches(count) }
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

extension ReportOutbox {
    /// Ends the box as the end of its process would, but for the descriptors.
    func abandon() { engine.stop() }
}

func bytes(_ count: Int, seed: UInt64 = 7) -> Data {
    var generator = SeededGenerator(seed: seed)
    return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
}
