import LineProtocol
import LoaderChain
import LoaderChainTesting
import TestSizes

@testable import InfluxReporting

/// A writer on manual timers, with the events that it emitted.
final class TestWriter: Sendable {
    let timers = ManualTimers()
    let writer: InfluxWriter
    private let log = EventLog()
    private let book = Locked<[WriterEvent]>([])

    init(_ sender: any LineSender, _ change: (inout WriterSettings) -> Void = { _ in }) {
        var settings = WriterSettings()
        settings.timers = timers
        settings.random = RandomSource(seed: 1)
        change(&settings)
        let (log, book) = (log, book)
        writer = InfluxWriter(sender: sender, settings: settings) { event in
            book.withLock { $0.append(event) }
            log.note("event")
        }
    }

    var events: [WriterEvent] { book.withLock { $0 } }
    var statistics: WriterStatistics { writer.statistics }

    /// Waits until no batch is in flight, and the timer for the next step is set.
    func settle() async throws { try await writer.engine.settle() }

    /// Waits until the given number of events was emitted.
    func waitForEvents(_ count: Int) async { await log.waitForEvents(count) }

    @discardableResult
    func write(_ number: Int) -> WriteResult {
        writer.write(Point.numbered(number))
    }

    /// The result of ``write(_:)``.
    static func line(_ number: Int) -> String { "m i=\(number)i \(number * 1_000_000_000)" }

    static func lines(_ numbers: Range<Int>) -> [String] { numbers.map(line) }
}

extension Point {
    static func numbered(_ number: Int) -> Point {
        Point("m", fields: ["i": .integer(Int64(number))], timestamp: .seconds(Int64(number)))
    }
}

extension ManualTimers {
    /// Waits until the next timer is set for that time.
    func wait(until moment: Duration) async throws {
        try await eventually("the next timer is set for that time") {
            nextDeadline == TimerInstant(nanoseconds: 0).advanced(by: moment)
        }
    }
}

extension WriterEngine {
    /// Whether no batch is in flight, and the timer for the next step is set.
    ///
    /// The thread of a response first removes the batch from the state, and then sets the timer. A clock that is advanced in
    /// between would find no timer.
    var isAtRest: Bool {
        let (isQuiet, next) = state.withLock { ($0.batching.inFlight.isEmpty, $0.alarmTime) }
        return isQuiet && next.map { alarm.waits(for: $0) } ?? true
    }

    /// Seals the block that is being collected.
    func seal() { state.withLock { $0.batching.seal() } }

    /// Waits until it is at rest.
    func settle() async throws {
        try await eventually("no batch is in flight, and the next timer is set") { isAtRest }
    }
}

extension WriterStatistics {
    /// Whether every point is in exactly one count.
    var addsUp: Bool { accepted == delivered + rejected + droppedTotal + held }
}
