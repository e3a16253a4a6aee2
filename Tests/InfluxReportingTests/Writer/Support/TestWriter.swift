import LineProtocol
import LoaderChain
import LoaderChainTesting

@testable import InfluxReporting

/// A writer on manual timers, with the events that it told.
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

    /// Waits until nothing is on its way, and the timer of what comes next has been set.
    func settle() async throws { try await writer.engine.settle() }

    /// Waits until a timer of that moment is the next.
    func waits(until moment: Duration) async throws {
        try await eventually("a timer of that moment is the next") {
            timers.nextDeadline == TimerInstant(nanoseconds: 0).advanced(by: moment)
        }
    }

    /// Waits until so many events were told.
    func waitForEvents(_ count: Int) async { await log.waitForEvents(count) }

    @discardableResult
    func write(_ number: Int) -> WriteResult {
        writer.write(Point("m", fields: ["i": .integer(Int64(number))], timestamp: .seconds(Int64(number))))
    }

    /// What becomes of ``write(_:)``.
    static func line(_ number: Int) -> String { "m i=\(number)i \(number * 1_000_000_000)" }

    static func lines(_ numbers: Range<Int>) -> [String] { numbers.map(line) }
}

extension WriterEngine {
    /// Whether nothing is on its way, and the timer of what comes next has been set.
    ///
    /// A batch has left the state before the thread of its answer sets that timer. A clock that is moved in between has
    /// nothing to ring.
    var isAtRest: Bool {
        let (isQuiet, next) = state.withLock { ($0.batching.inFlight.isEmpty, $0.alarmTime) }
        return isQuiet && next.map { alarm.waits(for: $0) } ?? true
    }

    /// Lets what is being collected wait as a block of its own.
    func seal() { state.withLock { $0.batching.seal() } }

    /// Waits until it is at rest.
    func settle() async throws {
        try await eventually("nothing is on its way, and the next timer is set") { isAtRest }
    }
}

extension WriterStatistics {
    /// Whether every point is in one place.
    var addsUp: Bool { accepted == delivered + rejected + droppedTotal + held }
}
