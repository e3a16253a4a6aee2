import LineProtocol
import LoaderChain
import Testing

@testable import InfluxReporting

/// The batching state on random walks, beside a model that knows every single point.
@Suite(.timeLimit(.minutes(10))) struct BatchingWalkTests {
    @Test(arguments: 1...60)
    func everyPointHasOneFateAndNoBoundIsBroken(seed: UInt64) {
        var walk = BatchingWalk(seed: seed)
        for _ in 0..<600 { walk.step() }
        walk.finish()
        #expect(walk.faults == [], "seed \(seed)")
    }
}

/// A writer without threads: one block that is being filled, a clock, and a server of moods.
private struct BatchingWalk {
    private enum Fate: Hashable { case delivered, rejected, dropped }
    private final class Waiter {
        let points: Set<Int>
        /// What had become of them when the flush began.
        let targets: Int
        init(_ points: Set<Int>) { (self.points, targets) = (points, points.count) }
    }

    private var random: SeededGenerator
    private let limits: BatchingLimits
    private var state: BatchingState<[Int], Waiter>
    private var now = TimerInstant(nanoseconds: 0)
    /// The block that is being filled; nil if none was asked for.
    private var block: (points: [Int], granted: Int)?
    private var isQuiet = true
    private var newest = TimerInstant(nanoseconds: .min)
    private var came: [Int: TimerInstant] = [:]
    private var fates: [Int: Fate] = [:]
    private var lastPoint = 0
    private var onTheirWay: [(number: UInt64, points: [Int])] = []
    private var waiters: [Int: Waiter] = [:]
    private var lastFlush = 0
    private var isServerUp = true
    private var lastFirst = 0
    private(set) var faults: [String] = []

    private static let room = 10

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var settings = WriterSettings()
        settings.quiet = .seconds(5)
        settings.maximumAge = .seconds(15)
        settings.batchPoints = Int.random(in: 1...40, using: &random)
        settings.maximumInFlight = Int.random(in: 1...3, using: &random)
        settings.whenFull = Bool.random(using: &random) ? .dropOldest : .dropNewest
        limits = BatchingLimits(
            settings, stripes: 2, maximumPoints: Int.random(in: 20...200, using: &random), maximumRoom: .max)
        state = BatchingState(limits)
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<55: accept()
        case ..<75: pass(.milliseconds(Int.random(in: 1...3_000, using: &random)))
        case ..<93: answer()
        case ..<96: flush()
        case ..<98: isServerUp.toggle()
        default: giveUp()
        }
        advance()
        check()
    }

    // MARK: What happens

    private mutating func accept() {
        if block == nil {
            switch state.grant(points: limits.blockPoints, room: Self.room * limits.blockPoints) {
            case .refused: return lose()
            case .given(let dropped):
                if limits.whenFull == .dropNewest, !dropped.isEmpty { faults.append("the oldest were dropped") }
                for parcel in dropped { end(parcel.content, .dropped) }
                block = ([], limits.blockPoints)
            }
        }
        lastPoint += 1
        came[lastPoint] = now
        newest = now
        block?.points.append(lastPoint)
        if isQuiet { state.firstCame(at: now) }
        isQuiet = false
        if let filled = block, filled.points.count == filled.granted { handIn() }
    }

    private mutating func lose() {
        // A point that is refused was never held.
        let open = block?.points.count ?? 0
        let held = came.count - fates.count - open
        if limits.whenFull == .dropNewest, held + limits.blockPoints <= limits.maximumPoints {
            faults.append("a point was refused although only \(held) of \(limits.maximumPoints) are held")
        }
    }

    private mutating func handIn() {
        guard let filled = block, !filled.points.isEmpty else { return }
        block = nil
        state.takeBack(points: filled.granted, room: Self.room * filled.granted)
        state.handIn(
            Parcel(
                number: 0, points: filled.points.count, bytes: filled.points.count,
                room: Self.room * filled.points.count,
                content: filled.points))
    }

    private mutating func pass(_ duration: Duration) {
        let target = now.advanced(by: duration)
        while let alarm = state.nextAlarm, alarm <= target {
            // What was to be released during a pause is due at once when the pause ends early.
            if alarm < now, state.pacing.pausedUntil != nil { faults.append("the alarm is set for the past") }
            now = max(now, alarm)
            state.pass(to: now, newest: newest)
            advance()
        }
        now = target
    }

    private mutating func advance() {
        while let step = state.nextStep(at: now) {
            switch step {
            case .gather:
                isQuiet = true
                handIn()
                state.gathered()
            case .send(let parcels):
                guard let last = parcels.last else {
                    faults.append("an empty batch")
                    return
                }
                let points = parcels.flatMap(\.content)
                if parcels.count > 1, points.count > limits.batchPoints { faults.append("a batch is too large") }
                onTheirWay.append((last.number, points))
                if onTheirWay.count > limits.maximumInFlight { faults.append("too many batches at once") }
                if state.pacing.failures > 0, onTheirWay.count > 1 { faults.append("two tried the ground") }
            }
        }
        tell(state.takeDone())
    }

    private mutating func answer() {
        guard !onTheirWay.isEmpty else { return }
        let (number, points) = onTheirWay.remove(at: Int.random(in: 0..<onTheirWay.count, using: &random))
        let rejected = points.filter { _ in Int.random(in: 0..<20, using: &random) == 0 }
        let others = points.filter { !rejected.contains($0) }
        let delivered = isServerUp ? others.count : Int.random(in: 0...others.count / 2, using: &random)
        let rest = Array(others.dropFirst(delivered))
        end(rejected, .rejected)
        end(Array(others.prefix(delivered)), .delivered)
        let parcel =
            rest.isEmpty
            ? nil
            : Parcel(
                number: number, points: rest.count, bytes: rest.count, room: Self.room * rest.count, content: rest)
        var outcome = BatchOutcome()
        outcome.deliveredCount = delivered
        outcome.unnamedRejections = rejected.isEmpty ? [] : [UnnamedRejection(count: rejected.count, reason: "mood")]
        state.ended(number, rest: parcel) { $0.note(outcome) }
        if parcel != nil {
            let told: Duration? = Bool.random(using: &random) ? .seconds(7) : nil
            state.wait(from: now, told: told, roll: Double.random(in: 0..<1, using: &random))
        }
    }

    private mutating func flush() {
        state.beginGathering()
        isQuiet = true
        handIn()
        lastFlush += 1
        let waiter = Waiter(Set(came.keys).subtracting(fates.keys))
        waiters[lastFlush] = waiter
        state.flush(waiter, id: lastFlush)
    }

    private mutating func giveUp() {
        guard let id = waiters.keys.sorted().randomElement(using: &random) else { return }
        if let ended = state.giveUp(id, because: .deadline) { tell([ended]) }
    }

    private mutating func tell(_ ended: [(Waiter, FlushReport)]) {
        for (waiter, report) in ended {
            waiters = waiters.filter { $0.value !== waiter }
            let ends = waiter.points.map { point -> Fate? in self.fates[point] }
            let expected = (
                ends.filter { $0 == .delivered }.count, ends.filter { $0 == .rejected }.count,
                ends.filter { $0 == .dropped }.count, ends.filter { $0 == nil }.count
            )
            let told = (report.delivered, report.rejected, report.dropped[.noRoom] ?? 0, report.kept)
            if expected != told { faults.append("a flush was told \(told), and it was \(expected)") }
        }
    }

    private mutating func end(_ points: [Int], _ fate: Fate) {
        for point in points {
            if fates.updateValue(fate, forKey: point) != nil { faults.append("point \(point) had two fates") }
        }
    }

    // MARK: What must hold

    private mutating func check() {
        let open = block?.points.count ?? 0
        let held = came.count - fates.count
        let granted = block?.granted ?? 0
        if state.heldPoints != held - open + granted {
            faults.append("\(state.heldPoints) are said to be held, and \(held) are")
        }
        if state.heldPoints > limits.maximumPoints { faults.append("too many points are held") }
        // Points leave in time, provided that batches are taken.
        guard onTheirWay.isEmpty, !state.pacing.isPaused(at: now) else { return }
        let waiting = came.keys.filter { fates[$0] == nil }
        if let oldest = waiting.compactMap({ came[$0] }).min() {
            if oldest.duration(to: now) > .seconds(15) { faults.append("a point is too old") }
            if let newest = waiting.compactMap({ came[$0] }).max(), newest.duration(to: now) > .seconds(5) {
                faults.append("it has been quiet for too long")
            }
        }
    }

    /// Lets the server take everything.
    mutating func finish() {
        isServerUp = true
        flush()
        advance()
        var rounds = 0
        while came.count > fates.count || !waiters.isEmpty, rounds < 10_000 {
            pass(.seconds(1))
            answer()
            advance()
            rounds += 1
        }
        if came.count > fates.count { faults.append("\(came.count - fates.count) points never left") }
        if !waiters.isEmpty { faults.append("a flush never ended") }
        if state.heldPoints != 0 { faults.append("\(state.heldPoints) points are held of none") }
        if state.nextAlarm != nil { faults.append("an alarm is set for nothing") }
    }
}
