import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct TimerRotaTests {
    @Test func oneWorkerRunsDueActionsAndRotaWakesOneTickLater() {
        var rota = TimerRota<Int>(present: 0, mostWorkers: 4)
        for number in 0..<3 { _ = rota.insert(number, at: 10, present: 0) }
        #expect(rota.wakeUp == 10)
        #expect(rota.wake(at: 10) == 0)
        #expect(rota.wakeUp == 11)
        #expect(rota.next(by: 10) == 1)
        #expect(rota.next(by: 10) == 2)
        #expect(rota.workers == 1)
        #expect(rota.next(by: 10) == nil)
        #expect(rota.workers == 0)
        #expect(rota.wake(at: 11) == nil)
        #expect(rota.wakeUp == TimerRota<Int>.never)
    }

    @Test func singleDueActionSetsNoWakeUp() {
        var rota = TimerRota<Int>(present: 0, mostWorkers: 4)
        _ = rota.insert(1, at: 10, present: 0)
        #expect(rota.wake(at: 10) == 1)
        #expect(rota.wakeUp == TimerRota<Int>.never)
    }

    @Test func nextActionGetsAnotherWorkerWhileOneIsBusy() {
        var rota = TimerRota<Int>(present: 0, mostWorkers: 4)
        for number in 0..<3 { _ = rota.insert(number, at: 10, present: 0) }
        #expect(rota.wake(at: 10) == 0)
        #expect(rota.wake(at: 11) == 1)
        _ = rota.insert(3, at: 5, present: 11)
        #expect(rota.wakeUp == 12)
        #expect(rota.wake(at: 12) == 2)
        #expect(rota.wake(at: 13) == 3)
        #expect(rota.workers == 4)
    }

    @Test func dueActionsWaitForWorkerAtLimitAndCanBeCancelled() throws {
        var rota = TimerRota<Int>(present: 0, mostWorkers: 1)
        let tickets = (0..<4).map { rota.insert($0, at: 10, present: 0) }
        #expect(rota.wake(at: 10) == 0)
        #expect(rota.wakeUp == TimerRota<Int>.never)
        #expect(rota.wake(at: 11) == nil)
        #expect(rota.remove(tickets[0]) == nil)
        #expect(rota.remove(tickets[1]) == 1)
        #expect(rota.next(by: 12) == 2)
        _ = rota.insert(4, at: 20, present: 12)
        #expect(rota.next(by: 12) == 3)
        #expect(rota.next(by: 12) == nil)
        #expect(rota.wakeUp <= 20)
    }

    @Test func earlyWakeUpIsRepeated() {
        var rota = TimerRota<Int>(present: 0, mostWorkers: 1)
        _ = rota.insert(1, at: 10, present: 0)
        #expect(rota.wake(at: 9) == nil)
        #expect(rota.wakeUp == 10)
        #expect(rota.wake(at: 10) == 1)
    }

    @Test func successiveCancelledTimeoutsShareWakeUp() {
        var rota = TimerRota<Int>(present: 0, mostWorkers: 4)
        var settings = 0
        var wakeUp = rota.wakeUp
        for tick in stride(from: 0, to: 120_000 as UInt64, by: 20) {
            if rota.wakeUp <= tick, rota.wake(at: tick) != nil { Issue.record("something was due") }
            let ticket = rota.insert(1, at: tick + 30_000, present: tick)
            if rota.remove(ticket) != 1 { Issue.record("it was not there") }
            if rota.wakeUp != wakeUp { settings += 1 }
            wakeUp = rota.wakeUp
        }
        #expect((1...5).contains(settings), "\(settings)")
        // The last one finds nothing, and sets no other.
        #expect(rota.wake(at: wakeUp) == nil && rota.wakeUp == TimerRota<Int>.never)
    }

    @Test func distantWakeUpIsCancelledWithLastTimer() {
        var rota = TimerRota<Int>(present: 0, mostWorkers: 4)
        let far = rota.insert(1, at: 600_000, present: 0)
        #expect(rota.wakeUp <= 600_000)
        #expect(rota.remove(far) == 1 && rota.wakeUp == TimerRota<Int>.never)
        let near = rota.insert(2, at: 30_000, present: 0)
        let wakeUp = rota.wakeUp
        #expect(rota.remove(near) == 2 && rota.wakeUp == wakeUp && wakeUp <= 30_000)
        // A later one waits for it, and has one of its own then.
        _ = rota.insert(3, at: 100_000, present: 0)
        #expect(rota.wakeUp == wakeUp)
        #expect(rota.wake(at: wakeUp) == nil && rota.wakeUp > wakeUp && rota.wakeUp <= 100_000)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func randomActionsAreHandedOutInOrderWithoutLoss(seed: UInt64) {
        var walk = RotaWalk(seed: seed)
        for _ in 0..<2_000 { walk.step() }
        walk.finish()
        #expect(walk.fault == nil, "seed \(seed)")
    }
}

/// Random inserts, removals, quick and slow actions, compared with a list in order.
private struct RotaWalk {
    private struct Waiting {
        let number: Int
        let deadline: UInt64
        let ticket: TimerRota<Int>.Ticket
    }

    private var rota: TimerRota<Int>
    private var random: SeededGenerator
    private var tick: UInt64 = 0
    private var last = 0
    private var waiting: [Waiting] = []
    private var running = 0
    private let most: Int
    private(set) var fault: String?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        most = Int(random.next(upperBound: 4 as UInt64)) + 1
        rota = TimerRota(present: 0, mostWorkers: most)
    }

    mutating func step() {
        switch random.next(upperBound: 8 as UInt64) {
        case 0, 1, 2: insert()
        case 3: remove()
        case 4, 5: pass(by: random.next(upperBound: 100 as UInt64) == 0 ? 5_000 : 1)
        default: endOne()
        }
        check()
    }

    /// Lets time pass and every action end.
    mutating func finish() {
        for _ in 0..<20_000 where !waiting.isEmpty || running > 0 {
            pass(by: 1)
            endOne()
            check()
        }
        expect(waiting.isEmpty && running == 0, "\(waiting.count) were forgotten")
        expect(rota.count == 0 && rota.workers == 0, "something is left")
        expect(rota.wakeUp == TimerRota<Int>.never || rota.wakeUp <= tick + 60_000, "a wake-up far away is left")
    }

    private mutating func insert() {
        last += 1
        let ahead = random.next(upperBound: 10 as UInt64) == 0 ? 10_000 : 6 as UInt64
        let deadline = tick + random.next(upperBound: ahead)
        let ticket = rota.insert(last, at: deadline, present: tick)
        waiting.append(Waiting(number: last, deadline: deadline, ticket: ticket))
    }

    private mutating func remove() {
        guard !waiting.isEmpty else { return }
        let removed = waiting.remove(at: Int(random.next(upperBound: UInt64(waiting.count))))
        let (first, second) = (rota.remove(removed.ticket), rota.remove(removed.ticket))
        expect(first == removed.number, "\(removed.number) could not be cancelled")
        expect(second == nil, "\(removed.number) was cancelled twice")
    }

    private mutating func pass(by ticks: UInt64) {
        tick += ticks
        guard rota.wakeUp <= tick else { return }
        handOut(rota.wake(at: tick), isDemanded: false)
    }

    private mutating func endOne() {
        guard running > 0 else { return }
        running -= 1
        handOut(rota.next(by: tick), isDemanded: true)
    }

    private mutating func handOut(_ number: Int?, isDemanded: Bool) {
        let first = waiting.filter { $0.deadline <= tick }.min { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
        guard let number else {
            expect(
                first == nil || (!isDemanded && running == most), "\(first?.number ?? 0) is due and was not handed out")
            return
        }
        expect(number == first?.number, "\(number) came before \(first?.number ?? 0)")
        running += 1
        waiting.removeAll { $0.number == number }
    }

    private mutating func check() {
        expect(running <= most && rota.workers == running, "\(rota.workers) workers for \(running) actions")
        guard running < most, let due = waiting.map(\.deadline).min() else { return }
        expect(rota.wakeUp <= max(due, tick + 1), "no wake-up for \(due)")
    }

    private mutating func expect(_ isTrue: Bool, _ sentence: String) {
        if !isTrue, fault == nil { fault = "tick \(tick): \(sentence)" }
    }
}
