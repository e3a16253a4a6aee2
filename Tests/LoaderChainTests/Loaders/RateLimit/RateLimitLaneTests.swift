import Testing

@testable import LoaderChain

/// Random walks of arrivals, leavings, rings and changes, against an array of those who wait.
@Suite(.timeLimit(.minutes(10))) struct RateLimitLaneTests {
    @Test(arguments: 0..<10) func randomWalksServeInOrderAndLoseNoWaiter(group: UInt64) {
        takeWalks(group: group) { seed in
            let walk = LaneWalk(seed: seed)
            walk.run(steps: 40)
            return walk.fault
        }
    }
}

private final class LaneWalk {
    private(set) var fault = ""
    private var random: SeededGenerator
    private var now: Int64 = 0
    private let capacity: Int
    private var lane: RateLimitLane<Int>
    /// The naive model: buckets and turns of its own, and who waits.
    private var buckets: [TokenBucket]
    private var turns = PriorityTurns()
    private var waiting: [Waiting] = []
    private var waiters = RateLimitLane<Int>.Waiters()
    /// Places that lead nowhere any more.
    private var left: [Waiting] = []
    /// What the owner's alarm is set for.
    private var alarm: TimerInstant?
    private var arrivals = 0

    private struct Waiting {
        var number: Int
        var cost: Int64
        var priority: ThrottlePriority
        var place = QueuePlace.nowhere
    }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        capacity = Int.random(in: 0...6, using: &random)
        let rates = Self.rates(&random)
        lane = RateLimitLane(rates, nil, at: TimerInstant(nanoseconds: 0))
        buckets = rates.map { TokenBucket($0, at: TimerInstant(nanoseconds: 0)) }
    }

    private static func rates(_ random: inout SeededGenerator) -> [RateLimit.Rate] {
        (0..<Int.random(in: 1...2, using: &random)).map { _ in
            let amount = Int.random(in: 1...5, using: &random)
            let period = Duration.nanoseconds(Int64.random(in: 1...100, using: &random))
            let burst = Int.random(in: 1...3, using: &random)
            return Bool.random(using: &random)
                ? RateLimit.Rate(cost: amount, per: period, burst: burst)
                : RateLimit.Rate(requests: amount, per: period, burst: burst)
        }
    }

    private var instant: TimerInstant { TimerInstant(nanoseconds: now) }

    func run(steps: Int) {
        for _ in 0..<steps where fault.isEmpty {
            step()
            expect(lane.waiting == waiting.count, "\(lane.waiting) wait, not \(waiting.count)")
            // No task waits without an alarm for the very next turn, and no alarm is set without a task.
            expect((alarm == nil) == waiting.isEmpty, "\(waiting.count) wait, and the alarm is \(alarm as Any)")
            if let alarm, let next, instant <= alarm {
                expect(alarm == turn(for: next.cost), "the alarm is not for the next turn")
                expect(alarm == lane.alarmTime(at: instant, among: waiters), "the alarm moves with time alone")
            }
        }
        var rings = 0
        while fault.isEmpty, let alarm {
            now = max(now, alarm.nanoseconds)
            ring()
            rings += 1
            expect(rings <= arrivals, "it rings without end")
        }
        expect(waiting.isEmpty, "\(waiting.count) wait forever")
    }

    private func step() {
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<4: arrive()
        case 4: leave()
        case 5:
            // Timers ring late, never early; and much may happen between the time and the ring.
            now += Int64.random(in: 0...60, using: &random)
            let rings = Bool.random(using: &random)
            if rings, let alarm, alarm <= instant { ring() }
        // One that was overtaken.
        case 6: ring()
        default: Bool.random(using: &random) ? change() : sendAway()
        }
    }

    // MARK: The model

    private var ready: PerPriority<Bool> {
        var ready = PerPriority(false)
        for task in waiting { ready[task.priority] = true }
        return ready
    }

    /// The task whose turn is next.
    private var next: Waiting? {
        guard let priority = turns.turn(among: ready, at: instant) else { return nil }
        return waiting.first { $0.priority == priority }
    }

    private func take(_ cost: Int64) -> Bool {
        var taken = buckets
        for index in taken.indices where !taken[index].take(cost, at: instant) { return false }
        buckets = taken
        return true
    }

    /// When the tokens for a request are there, if none goes before.
    private func turn(for cost: Int64) -> TimerInstant {
        var turn = instant
        for index in buckets.indices { turn = max(turn, buckets[index].turn(for: cost, at: instant)) }
        return turn
    }

    /// When a newcomer has its turn, after others of its priority that wait.
    private func turn(for newcomer: Waiting) -> TimerInstant {
        var (buckets, turn) = (buckets, instant)
        for task in waiting.filter({ $0.priority == newcomer.priority }) + [newcomer] {
            for index in buckets.indices { turn = max(turn, buckets[index].turn(for: task.cost, at: turn)) }
            for index in buckets.indices { _ = buckets[index].take(task.cost, at: turn) }
        }
        return turn
    }

    // MARK: The steps

    private func arrive() {
        arrivals += 1
        var newcomer = Waiting(
            number: arrivals, cost: Int64.random(in: 0...5, using: &random),
            priority: ThrottlePriority.allCases.randomElement(using: &random) ?? .normal)
        var arrival = RateLimitLane<Int>.Arrival(cost: newcomer.cost, priority: newcomer.priority)
        let first = lane.admit(arrival, capacity: capacity, at: instant, among: &waiters)
        if case .mustWait = first {
            let hasDeadline = Bool.random(using: &random)
            arrival.waiter = arrivals
            arrival.deadline =
                hasDeadline ? instant.advanced(by: .nanoseconds(Int.random(in: 0...90, using: &random))) : .never
            let turn = turn(for: newcomer)
            let second = lane.admit(arrival, capacity: capacity, at: instant, among: &waiters)
            // A full bucket loses the part of a nanosecond by which each token comes late.
            let lost = Duration.nanoseconds(waiting.count)
            if case .tooLate(let delay) = second {
                let told = instant.advanced(by: delay)
                expect(arrival.deadline <= told && told <= turn, "\(second) for \(turn)")
                // With two buckets, each can be the one that others wait for.
                return expect(buckets.count > 1 || turn <= told.advanced(by: lost), "\(second) for \(turn)")
            }
            expect(
                buckets.count > 1 || turn < arrival.deadline.advanced(by: lost),
                "waits for \(turn) in spite of \(arrival.deadline)")
            guard case .waits(let place, let new) = second else { return expect(false, "\(first) and then \(second)") }
            expect(waiting.count < capacity, "waits beyond the capacity")
            newcomer.place = place
            let before = next?.number
            if !ready[newcomer.priority] { turns.forget(newcomer.priority) }
            waiting.append(newcomer)
            if new != nil { setAlarm() }
            return expect(
                (new != nil) == (before == nil || next?.priority == newcomer.priority && next?.number == arrivals),
                "another alarm")
        }
        let passes = waiting.isEmpty && take(newcomer.cost)
        let refusal = instant.duration(to: turn(for: next?.cost ?? newcomer.cost))
        switch first {
        case .passes(let pass): expect(passes && pass == .init(cost: newcomer.cost), "\(arrivals) passes")
        case .refused(let delay): expect(!passes && delay == refusal, "\(first) for \(arrivals)")
        case .mustWait, .waits, .tooLate: expect(false, "\(first) for \(arrivals)")
        }
        expect(passes || waiting.count >= capacity, "refused although the queue is not full")
    }

    private func leave() {
        guard let index = waiting.indices.randomElement(using: &random) else {
            guard let task = left.randomElement(using: &random) else { return }
            return expect(
                lane.leave(task.place, of: task.priority, among: &waiters) == nil, "one left who was not there")
        }
        let task = waiting.remove(at: index)
        let other = lane.leave(task.place, of: task.priority, among: &waiters)
        expect(other?.waiter == task.number, "one could not leave")
        left.append(task)
        if other?.alarm != nil { setAlarm() }
    }

    private func ring() { take(lane.step(at: instant, among: &waiters)) }

    private func change() {
        let rates = Self.rates(&random)
        for index in rates.indices {
            if index < buckets.count {
                buckets[index].change(to: rates[index], at: instant)
            } else {
                buckets.append(TokenBucket(rates[index], at: instant))
            }
        }
        buckets.removeLast(buckets.count - rates.count)
        take(lane.change(to: rates, at: instant, among: &waiters))
    }

    private func sendAway() {
        let step = lane.removeAll(among: &waiters)
        expect(Set(step.passing.map(\.waiter)) == Set(waiting.map(\.number)), "sent others away than wait")
        left += waiting
        waiting = []
        setAlarm()
    }

    private func take(_ step: RateLimitLane<Int>.Step) {
        for (number, _) in step.passing {
            guard let next else { return expect(false, "\(number) passes, and none waits") }
            expect(take(next.cost), "\(number) passes without its tokens")
            expect(next.number == number, "\(number) passes out of turn")
            left.append(next)
            waiting.removeAll { $0.number == next.number }
            turns.count(next.priority, past: ready, at: instant)
        }
        if let next { expect(turn(for: next.cost) > instant, "\(next.number) waits although it is its turn") }
        setAlarm()
    }

    private func setAlarm() { alarm = lane.alarmTime(at: instant, among: waiters) }

    private func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, fault.isEmpty { fault = message() }
    }
}
