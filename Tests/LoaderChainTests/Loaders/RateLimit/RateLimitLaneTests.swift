import Testing

@testable import LoaderChain

/// Random walks of arrivals, leavings, rings and changes, against an array of those who wait.
@Suite(.timeLimit(.minutes(10))) struct RateLimitLaneTests {
    @Test(arguments: 0..<10) func everyWalkServesInOrderAndForgetsNone(group: UInt64) {
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
    /// The naive model: a bucket of its own, and who waits.
    private var bucket: TokenBucket
    private var waiting: [(number: Int, place: QueuePlace)] = []
    private var waiters = RateLimitLane<Int>.Waiters()
    /// Places that lead nowhere any more.
    private var left: [QueuePlace] = []
    /// What the owner's alarm is set for.
    private var alarm: TimerInstant?
    private var arrivals = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        capacity = Int.random(in: 0...6, using: &random)
        let rate = Self.rate(&random)
        lane = RateLimitLane(rate, at: TimerInstant(nanoseconds: 0))
        bucket = TokenBucket(rate, at: TimerInstant(nanoseconds: 0))
    }

    private static func rate(_ random: inout SeededGenerator) -> RateLimit.Rate {
        RateLimit.Rate(
            requests: Int.random(in: 1...5, using: &random),
            per: .nanoseconds(Int64.random(in: 1...100, using: &random)),
            burst: Int.random(in: 1...3, using: &random))
    }

    private var instant: TimerInstant { TimerInstant(nanoseconds: now) }

    func run(steps: Int) {
        for _ in 0..<steps where fault.isEmpty {
            step()
            expect(lane.waiting == waiting.count, "\(lane.waiting) wait, not \(waiting.count)")
            // No task waits without an alarm for the very next token, and no alarm is set without a task.
            expect((alarm == nil) == waiting.isEmpty, "\(waiting.count) wait, and the alarm is \(alarm as Any)")
            if let alarm, instant <= alarm {
                expect(alarm == bucket.nextToken(at: instant), "the alarm is not for the next token")
                expect(alarm == lane.alarmTime(at: instant), "the alarm moves with time alone")
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

    private func arrive() {
        arrivals += 1
        let first = lane.admit(nil, capacity: capacity, at: instant, among: &waiters)
        if case .mustWait = first {
            let hasDeadline = Bool.random(using: &random)
            let deadline =
                hasDeadline ? instant.advanced(by: .nanoseconds(Int.random(in: 0...90, using: &random))) : .never
            let turn = turn(after: waiting.count)
            let second = lane.admit(arrivals, until: deadline, capacity: capacity, at: instant, among: &waiters)
            // A full bucket loses the part of a nanosecond by which each token comes late.
            let lost = Duration.nanoseconds(waiting.count)
            if case .tooLate(let delay) = second {
                let told = instant.advanced(by: delay)
                return expect(
                    deadline <= told && told <= turn && turn <= told.advanced(by: lost), "\(second) for \(turn)")
            }
            expect(turn < deadline.advanced(by: lost), "waits for \(turn) in spite of \(deadline)")
            guard case .waits(let place, let new) = second else { return expect(false, "\(first) and then \(second)") }
            expect(waiting.count < capacity, "waits beyond the capacity")
            expect((new != nil) == (alarm == nil), "another alarm")
            waiting.append((arrivals, place))
            if new != nil { setAlarm() }
            return
        }
        let passes = waiting.isEmpty && bucket.take(at: instant)
        let refusal = instant.duration(to: max(instant, bucket.nextToken(at: instant)))
        switch first {
        case .passes: expect(passes, "\(arrivals) passes")
        case .refused(let delay): expect(!passes && delay == refusal, "\(first) for \(arrivals)")
        case .mustWait, .waits, .tooLate: expect(false, "\(first) for \(arrivals)")
        }
        expect(passes || waiting.count >= capacity, "refused although the queue is not full")
    }

    /// When a newcomer has its token, after others that wait.
    private func turn(after others: Int) -> TimerInstant {
        var (bucket, turn) = (bucket, instant)
        for _ in 0...others {
            turn = max(turn, bucket.nextToken(at: turn))
            _ = bucket.take(at: turn)
        }
        return turn
    }

    private func leave() {
        guard let index = waiting.indices.randomElement(using: &random) else {
            guard let place = left.randomElement(using: &random) else { return }
            return expect(lane.leave(place, among: &waiters) == nil, "one left who was not there")
        }
        let (number, place) = waiting.remove(at: index)
        let other = lane.leave(place, among: &waiters)
        expect(other?.waiter == number && other?.isLast == waiting.isEmpty, "one could not leave")
        left.append(place)
        if other?.isLast == true { setAlarm() }
    }

    private func ring() { take(lane.step(at: instant, among: &waiters)) }

    private func change() {
        let rate = Self.rate(&random)
        bucket.change(to: rate, at: instant)
        take(lane.change(to: rate, at: instant, among: &waiters))
    }

    private func sendAway() {
        let step = lane.removeAll(among: &waiters)
        expect(step.passing == waiting.map(\.number), "sent others away than wait")
        left += waiting.map(\.place)
        waiting = []
        setAlarm()
    }

    private func take(_ step: RateLimitLane<Int>.Step) {
        for number in step.passing {
            expect(bucket.take(at: instant), "\(number) passes without a token")
            expect(waiting.first?.number == number, "\(number) passes out of turn")
            if !waiting.isEmpty { left.append(waiting.removeFirst().place) }
        }
        if !waiting.isEmpty {
            expect(!bucket.take(at: instant), "\(waiting[0].number) waits although there is a token")
        }
        setAlarm()
    }

    private func setAlarm() { alarm = lane.alarmTime(at: instant) }

    private func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, fault.isEmpty { fault = message() }
    }
}
