import Testing

@testable import LoaderChain

/// Random walks through the life of a retried task, in a world of timers that ring at any time, or too late.
@Suite(.timeLimit(.minutes(10))) struct RetryStateTests {
    @Test(arguments: 0..<10) func everyWalkKeepsItsBooks(group: UInt64) {
        takeWalks(group: group) { seed in
            let walk = RetryWalk(seed: seed)
            walk.run(steps: 40)
            return walk.fault
        }
    }

    @Test func anAlarmThatWasSetAnewIsDeafToTheTimerBefore() {
        var alarm = Alarm()
        let first = alarm.set()
        let kept = alarm.keep(FakeTimer(1), of: first)
        let cleared = alarm.clear() as? FakeTimer
        #expect(kept == nil && cleared?.name == 1)
        let second = alarm.set()
        let old = alarm.ring(first)
        let tooLate = alarm.keep(FakeTimer(2), of: first) as? FakeTimer
        #expect(old == nil && tooLate?.name == 2)
        // It may ring before its timer is kept.
        let rung = alarm.ring(second)
        #expect(rung != nil && !alarm.isSet)
        let useless = alarm.keep(FakeTimer(3), of: second)
        #expect(useless != nil)
    }
}

private final class FakeTimer: ScheduledTimer {
    let name: UInt64
    init(_ name: UInt64) { self.name = name }
    func cancel() -> Bool { true }
}

/// What the world knows of a retried task: one attempt at a time, and timers that are scheduled, kept, rung or given back.
private final class RetryWalk {
    private(set) var fault = ""
    private var random: SeededGenerator
    private var state = RetryState<Int, Int>()

    private enum Attempt: Equatable { case running, decided, pausing(Int), interrupted, over }
    private var attempt = Attempt.running
    private var started = 1
    private var isReset = false
    private var pauses = 0
    private var waiters = 0
    private var waiting: Set<Int> = []

    /// The one setting that counts, and what has become of the timers.
    private var setting: UInt64?
    private var unscheduled: Set<UInt64> = []
    private var alive: Set<UInt64> = []
    private var kept: UInt64?

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func run(steps: Int) {
        for _ in 0..<steps where fault.isEmpty { step() }
        expect(state.attempts == started, "\(state.attempts) attempts, not \(started)")
    }

    private func step() {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: attemptEnds()
        case 1: goOn()
        case 2: pause()
        case 3: if attempt == .decided { end() }
        case 4: interrupt(state.interrupt())
        case 5: reset()
        case 6: schedule()
        default: ring()
        }
        let expectsMore = !isReset && [.running, .decided, .interrupted].contains(attempt)
        expect(state.mayGoOn == expectsMore, "may go on: \(state.mayGoOn) while \(attempt)")
        if case .pausing = attempt { expect(state.isPausing, "no pause") } else { expect(!state.isPausing, "a pause") }
    }

    private func attemptEnds() {
        guard attempt == .running || attempt == .interrupted else { return }
        attempt = .decided
    }

    private func goOn() {
        guard attempt == .decided else { return }
        let goesOn = state.goOn()
        expect(goesOn == !isReset, "went on: \(goesOn)")
        if goesOn {
            started += 1
            attempt = .running
        }
    }

    private func pause() {
        guard attempt == .decided else { return }
        pauses += 1
        let number = state.pause(pauses)
        expect((number != nil) == !isReset, "paused: \(number != nil)")
        guard let number else { return }
        attempt = .pausing(pauses)
        setting = number
        unscheduled.insert(number)
    }

    private func end() {
        let told = state.end()
        expect(told.count == waiting.count && Set(told) == waiting, "told \(told), not \(waiting)")
        waiting = []
        attempt = .over
    }

    private func interrupt(_ ended: RetryState<Int, Int>.EndedPause?) {
        guard case .pausing(let number) = attempt else { return expect(ended == nil, "an interrupt without a pause") }
        expect(ended?.pause == number, "interrupted \(String(describing: ended?.pause)), not \(number)")
        clear(ended?.timer)
        attempt = .interrupted
    }

    private func reset() {
        waiters += 1
        switch state.reset(waiters) {
        case .isOver: expect(attempt == .over, "over while \(attempt)")
        case .waits(let ended):
            expect(attempt != .over, "a waiter that is never told")
            waiting.insert(waiters)
            isReset = true
            interrupt(ended)
        }
    }

    // MARK: Timers

    /// Keeps the timer of some setting, perhaps of one that is no more.
    private func schedule() {
        guard let number = unscheduled.min() else { return }
        unscheduled.remove(number)
        let returned = state.keep(FakeTimer(number), of: number) as? FakeTimer
        expect((returned == nil) == (setting == number), "setting \(number) was kept: \(returned == nil)")
        if returned == nil { kept = number }
        alive.insert(number)
    }

    /// A timer rings that was scheduled at some time.
    private func ring() {
        guard let number = alive.union(unscheduled).sorted().randomElement(using: &random) else { return }
        let isGood = setting == number
        if let ended = state.resume(number) {
            expect(isGood, "a pause that is no more")
            expect(attempt == .pausing(ended.pause), "resumed \(ended.pause) while \(attempt)")
            started += 1
            attempt = .running
            rang(ended.timer)
        } else {
            expect(!isGood, "the timer \(number) of the present setting did nothing")
        }
    }

    private func rang(_ timer: (any ScheduledTimer)?) {
        expect((timer as? FakeTimer)?.name == kept, "gave back another timer than the kept one")
        (setting, kept) = (nil, nil)
    }

    private func clear(_ timer: (any ScheduledTimer)?) {
        expect((timer as? FakeTimer)?.name == kept, "left timer \(String(describing: kept)) behind")
        (setting, kept) = (nil, nil)
    }

    private func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, fault.isEmpty { fault = message() }
    }
}
