import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// The pure state of a throttle against the naive one.
@Suite(.timeLimit(.minutes(20))) struct ThrottleStateTests {
    @Test func everySequenceOfFiveEventsAgreesWithNaiveState() {
        let alphabet: [ThrottleEvent] = [
            .arrive(.normal, host: "a"), .arrive(.high, host: "a"), .arrive(.low, host: "b"),
            .finish(0), .cancel(0), .limit(0), .limit(2), .reset,
        ]
        var sequences = 0
        forEachSequence(of: alphabet, upTo: 5) { sequence in
            sequences += 1
            var pair = ThrottlePair(limit: 1, perHost: nil, mostWaiting: 3, patience: .init(starts: 1))
            pair.happen(sequence)
        }
        #expect(sequences == 37_448)
    }

    @Test(arguments: [nil, 1] as [UInt?])
    func sequencesWithFullQueueAgreeWithNaiveState(perHost: UInt?) {
        let alphabet: [ThrottleEvent] = [
            .arrive(.low, host: "a"), .arrive(.normal, host: "b"), .arrive(.high, host: "a"), .finish(0), .cancel(1),
        ]
        forEachSequence(of: alphabet, upTo: 6) { sequence in
            var pair = ThrottlePair(limit: 1, perHost: perHost, mostWaiting: 2, patience: .init(starts: 1))
            pair.happen(sequence)
        }
    }

    @Test func sequencesWithLimitPerHostAgreeWithNaiveState() {
        let alphabet: [ThrottleEvent] = [
            .arrive(.normal, host: "a"), .arrive(.high, host: "b"), .arrive(.low, host: "a"),
            .finish(0), .cancel(0), .perHost(0), .perHost(nil), .reset,
        ]
        forEachSequence(of: alphabet, upTo: 5) { sequence in
            var pair = ThrottlePair(limit: 2, perHost: 1, mostWaiting: .max, patience: .init(starts: 1))
            pair.happen(sequence)
        }
    }

    @Test(arguments: [false, true])
    func sequencesWithPartitionsAgreeWithNaiveState(lends: Bool) {
        let alphabet: [ThrottleEvent] = [
            .arrive(.high, host: "a"), .arrive(.normal, host: "b"), .arrive(.low, host: "a", partition: 1),
            .finish(0), .limit(1), .hostLimits(["a": 1]), .mostWaiting(1),
        ]
        forEachSequence(of: alphabet, upTo: 5) { sequence in
            var pair = ThrottlePair(
                limit: 2, perHost: nil, mostWaiting: .max, patience: .init(starts: 1),
                partitions: [ThrottlePartition("user", share: 0.5, lends: lends)])
            pair.happen(sequence)
        }
    }

    /// Lets callers of one host leave until its newest waiter goes first.
    private func hasten(_ pair: inout ThrottlePair) {
        pair.happen([.arrive(.normal, host: "a")])
        for _ in 0..<20 { pair.happen([.time(1), .arrive(.normal, host: "a"), .time(1), .giveUp(0)]) }
    }

    @Test func newestOfHostDoesNotOvertakeOtherHosts() {
        var pair = ThrottlePair(limit: 1, perHost: 1, mostWaiting: .max, patience: .init())
        hasten(&pair)
        let before = pair.naive.log.count
        pair.happen([.arrive(.normal, host: "a"), .arrive(.normal, host: "b"), .arrive(.normal, host: "a")])
        pair.happen([.finish(0), .finish(0), .finish(0)])
        #expect(pair.naive.log[before...].filter { $0.hasSuffix("starts") } == ["22 starts", "23 starts", "24 starts"])
        // With nobody else, it does.
        pair.happen([.arrive(.normal, host: "a"), .arrive(.normal, host: "a"), .finish(0), .finish(0)])
        #expect(pair.naive.log.filter { $0.hasSuffix("starts") }.suffix(2) == ["26 starts", "25 starts"])
    }

    @Test func hostWhoseLastWaiterIsDisplacedIsForgotten() {
        var pair = ThrottlePair(limit: 1, perHost: 5, mostWaiting: 1, patience: .init())
        hasten(&pair)
        pair.happen([.arrive(.low, host: "a"), .limit(0), .finish(0), .arrive(.high, host: "b")])
        #expect(pair.naive.snapshot.hosts == ["b": .init(waiting: 1)])
    }

    /// Four and eight units of time of the queues; a look is a unit for every half of the target.
    private static let overload = ThrottleOverload(target: .unit * 4, interval: .unit * 2)

    @Test func sequencesUnderOverloadAgreeWithNaiveState() {
        let alphabet: [ThrottleEvent] = [
            .arrive(.low, host: "a"), .arrive(.high, host: "b"), .arrive(.normal, host: "a"), .finish(0), .time(5),
            .look,
        ]
        var sheds = 0
        forEachSequence(of: alphabet, upTo: 5) { sequence in
            var pair = ThrottlePair(
                limit: 1, perHost: nil, mostWaiting: .max, patience: .init(starts: 1), overload: Self.overload)
            // One runs, two wait, and have waited for too long at one look of the two that it takes.
            pair.happen(
                [.arrive(.normal, host: "a"), .arrive(.normal, host: "a"), .arrive(.low, host: "b"), .time(5), .look])
            pair.happen(sequence)
            sheds += pair.naive.log.count { $0.hasSuffix("shed") }
        }
        #expect(sheds > 1_000)
    }

    @Test(arguments: [nil, 2] as [UInt?])
    func walksUnderOverloadAgreeWithNaiveState(perHost: UInt?) {
        var sheds = 0
        for seed in testSample(0..<600 as Range<UInt64>) {
            var random = SeededGenerator(seed: seed)
            let partitions = [ThrottlePartition("1", share: 0.5, lends: Bool.random(using: &random))]
            let overload = ThrottleOverload(
                target: .unit * Int.random(in: 0...12, using: &random),
                interval: .unit * Int.random(in: 0...12, using: &random), sheds: random.next() % 8 > 0)
            var pair = ThrottlePair(
                limit: UInt.random(in: 1...3, using: &random), perHost: perHost,
                mostWaiting: Bool.random(using: &random) ? .max : 12, patience: .init(starts: 2),
                partitions: Bool.random(using: &random) ? partitions : [], overload: overload)
            let events = (0..<120).map { _ in
                random.next() % 5 == 0
                    ? .look : ThrottleEvent.random(settingPerHost: perHost != nil, partitions: 0, using: &random)
            }
            guard pair.happen(events) else {
                Issue.record("seed \(seed)")
                return
            }
            sheds += pair.naive.log.count { $0.hasSuffix("shed") }
        }
        #expect(sheds > 20)
    }

    @Test func walksWithPartitionsAgreeWithNaiveState() {
        for seed in testSample(0..<2_000 as Range<UInt64>) {
            var random = SeededGenerator(seed: seed)
            let shares = [0, 0.2, 0.34, 0.5, 1].shuffled(using: &random)
            var partitions = [ThrottlePartition("1", share: shares[0], lends: Bool.random(using: &random))]
            if shares[0] + shares[1] <= 1 {
                partitions.append(ThrottlePartition("2", share: shares[1], lends: Bool.random(using: &random)))
            }
            var pair = ThrottlePair(
                limit: UInt.random(in: 0...6, using: &random),
                perHost: [nil, 1, 2].randomElement(using: &random) ?? nil,
                mostWaiting: [.max, 0, 2, 6].randomElement(using: &random) ?? .max,
                patience: .init(starts: Int.random(in: 1...3, using: &random)), partitions: partitions)
            let hasDeadlines = Bool.random(using: &random)
            let events = (0..<60).map { _ in
                ThrottleEvent.random(
                    settingPerHost: true, withDeadlines: hasDeadlines, partitions: partitions.count, using: &random)
            }
            guard pair.happen(events) else {
                Issue.record("seed \(seed)")
                return
            }
        }
    }

    @Test func sequencesWithDeadlinesAgreeWithNaiveState() {
        let alphabet: [ThrottleEvent] = [
            .arrive(.normal, host: "a", within: 5), .arrive(.high, host: "a", within: 15), .arrive(.normal, host: "b"),
            .finish(0), .cancel(0), .time(10), .limit(2), .limit(3),
        ]
        forEachSequence(of: alphabet, upTo: 5) { sequence in
            var pair = ThrottlePair(limit: 1, perHost: nil, mostWaiting: 3, patience: .init(starts: 1))
            pair.happen(sequence)
        }
    }

    @Test(arguments: [nil, 1, 2] as [UInt?])
    func walksWithDeadlinesAgreeWithNaiveState(perHost: UInt?) {
        var tooLate = 0
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var pair = ThrottlePair(
                limit: UInt.random(in: 1...3, using: &random), perHost: perHost, mostWaiting: 12,
                patience: .init(starts: 2))
            let events = (0..<200).map { _ in ThrottleEvent.random(withDeadlines: true, using: &random) }
            guard pair.happen(events) else {
                Issue.record("seed \(seed)")
                return
            }
            tooLate += pair.naive.log.count { $0.hasSuffix("is too late") }
        }
        // Otherwise they would not test anything.
        #expect(tooLate > 500)
    }

    @Test(arguments: [nil, 1, 2] as [UInt?])
    func walksWithLeavingCallersAgreeWithNaiveState(perHost: UInt?) {
        var overtakings = 0
        for seed in testSample(0..<400 as Range<UInt64>) {
            var random = SeededGenerator(seed: seed)
            let mayHasten = random.next() % 4 > 0
            var pair = ThrottlePair(
                limit: UInt.random(in: 1...3, using: &random), perHost: perHost,
                mostWaiting: Bool.random(using: &random) ? .max : 12, patience: .init(starts: 2), mayHasten: mayHasten)
            let staying = random.next() % 4
            // With few for another host, those of one wait for each other alone.
            let elsewhere = random.next() % 5
            let events = (0..<300).map { _ -> ThrottleEvent in
                switch random.next() % 12 {
                case 0...4:
                    .arrive(
                        ThrottlePriority.allCases.randomElement(using: &random) ?? .normal,
                        host: random.next() % 8 < elsewhere ? "b" : "a")
                case 5...7: .time(Int64(random.next() % 5))
                case 8: .cancel(Int(random.next() % 8))
                default:
                    random.next() % 8 < staying ? .finish(Int(random.next() % 8)) : .giveUp(Int(random.next() % 8))
                }
            }
            guard pair.happen(events) else {
                Issue.record("seed \(seed)")
                return
            }
            if !mayHasten, pair.naive.overtakings > 0 { Issue.record("The newest went first.") }
            overtakings += pair.naive.overtakings
        }
        // Otherwise they would not test anything.
        #expect(overtakings > 200)
    }

    @Test func randomWalksAgreeWithNaiveState() {
        for seed in testSample(0..<10_000 as Range<UInt64>) {
            var random = SeededGenerator(seed: seed)
            var pair = ThrottlePair(
                limit: UInt.random(in: 0...4, using: &random),
                perHost: [nil, nil, 1, 2, .max].randomElement(using: &random) ?? nil,
                mostWaiting: [.max, .max, 0, 3, 8].randomElement(using: &random) ?? .max,
                patience: .init(
                    starts: Int.random(in: 1...3, using: &random),
                    time: [nil, .nanoseconds(Int.random(in: 0...20, using: &random))].randomElement(using: &random)
                        ?? nil))
            let setsPerHost = random.next() % 2 == 0
            let events = (0..<60).map { _ in ThrottleEvent.random(settingPerHost: setsPerHost, using: &random) }
            guard pair.happen(events) else {
                Issue.record("seed \(seed)")
                return
            }
        }
    }

    @Test(arguments: [nil, 5] as [UInt?])
    func newcomerDoesNotOvertakeStartingWaiters(perHost: UInt?) {
        let driven = DrivenThrottle(DrivenThrottle.State(limit: 0, perHost: perHost))
        driven.arrive(1, .normal, "a")
        driven.arrive(2, .normal, "b")
        // The limit has been raised, and the thread that raised it has not started any yet.
        driven.setLimit(5) { driven.arrive(3, .normal, "a") }
        #expect(driven.log == ["1 starts", "2 starts", "3 starts"])
    }

    @Test func firstInLineIsOvertakenAtMostEightTimes() {
        var pair = ThrottlePair(limit: 1, perHost: nil, mostWaiting: .max, patience: .init())
        pair.happen([.arrive(.normal, host: "a"), .arrive(.low, host: "a"), .arrive(.normal, host: "a")])
        for _ in 0..<100 { pair.happen([.arrive(.high, host: "a"), .arrive(.high, host: "a"), .finish(0)]) }
        #expect(pair.naive.worstPassing == 8)
        #expect(!pair.naive.waiting.contains { $0.priority != .high })
    }

    @Test func firstAtItsHostIsOvertakenAtMostEightTimes() {
        var pair = ThrottlePair(limit: 2, perHost: 1, mostWaiting: .max, patience: .init())
        pair.happen(["a", "b", "a"].map { .arrive(.high, host: $0) } + [.arrive(.low, host: "a")])
        for _ in 0..<40 {
            pair.happen([.arrive(.high, host: "a"), .arrive(.high, host: "b"), .finish(0)])
        }
        #expect(pair.naive.worstPassingAtHost == 8)
        #expect(!pair.naive.waiting.contains { $0.priority == .low })
    }

    @Test func waiterStaysDisplaceableAfterOthersLeave() {
        // The list of waiters that may be displaced is swept now and then, and must not lose the last of them.
        var state = DrivenThrottle.State(limit: 0, mostWaiting: 3)
        var stays: QueuePlace?
        func arrive(_ number: Int, _ priority: ThrottlePriority) -> DrivenThrottle.State.Admission {
            state.arrive(
                number, ThrottleArrival(number: UInt64(number), priority: priority, origin: nil, instant: .zero))
        }
        for number in 0..<1_000 {
            guard case .waits(let place, nil) = arrive(number, .low) else {
                Issue.record("\(number) does not wait")
                return
            }
            if number == 500 { stays = place } else { #expect(state.queues.remove(place) == number) }
        }
        for number in 1_000..<1_002 { _ = arrive(number, .normal) }
        guard case .waits(_, displacing: 500) = arrive(1_002, .high) else {
            Issue.record("another was displaced")
            return
        }
        #expect(stays.flatMap { state.queues.remove($0) } == nil && state.waiting == 3)
    }

    @Test func priorityTurnsInterleaveLowerPriorities() {
        var turns = PriorityTurns(.init(starts: 2))
        let all = PerPriority(true)
        let order = (0..<9).compactMap { _ in
            let turn = turns.turn(among: all, at: .zero)
            if let turn { turns.count(turn, past: all, at: .zero) }
            return turn
        }
        #expect(order == [.high, .high, .low, .normal, .high, .low, .high, .normal, .low])
        #expect(turns.turn(among: PerPriority(false), at: .zero) == nil)
    }
}

extension ThrottleEvent {
    static func random(
        settingPerHost: Bool = false, withDeadlines: Bool = false, partitions: Int = 0,
        using random: inout SeededGenerator
    ) -> ThrottleEvent {
        if partitions > 0, random.next() % 12 == 0 {
            let limits: [[String: UInt]] = [[:], ["a": 1], ["a": 0, "b": 2], ["c": .max]]
            return Bool.random(using: &random)
                ? .mostWaiting(Int(random.next() % 8)) : .hostLimits(limits.randomElement(using: &random) ?? [:])
        }
        switch random.next() % 18 {
        case 0...6:
            let priority = ThrottlePriority.allCases.randomElement(using: &random) ?? .normal
            let host = ["a", "b", "c"].randomElement(using: &random) ?? ""
            let partition = partitions == 0 ? 0 : Int(random.next() % UInt64(partitions + 1))
            let isLimited = withDeadlines && random.next() % 8 > 0
            let time = isLimited ? Int64(random.next() % 40) - 10 : nil
            return .arrive(priority, host: host, within: time, partition: partition)
        case 7...11: return random.next() % 3 == 0 ? .giveUp(Int(random.next() % 8)) : .finish(Int(random.next() % 8))
        case 12, 13: return .cancel(Int(random.next() % 8))
        case 14 where settingPerHost && random.next() % 2 == 0:
            return .perHost(random.next() % 4 == 0 ? nil : UInt(random.next() % 3))
        case 14: return .limit(UInt(random.next() % 5))
        case 15, 16: return .time(Int64(random.next() % 10))
        default: return random.next() % 4 == 0 ? .reset : .limit(UInt(random.next() % 3))
        }
    }
}

extension Duration {
    /// A unit of time of the queues.
    fileprivate static var unit: Duration { .nanoseconds(1 << 20) }
}

extension TimerInstant {
    fileprivate static let zero = TimerInstant(nanoseconds: 0)
}

private func forEachSequence(of alphabet: [ThrottleEvent], upTo length: Int, _ body: ([ThrottleEvent]) -> Void) {
    var sequence: [ThrottleEvent] = []
    func extend() {
        for event in alphabet {
            sequence.append(event)
            body(sequence)
            if sequence.count < length { extend() }
            sequence.removeLast()
        }
    }
    extend()
}

/// The state and the naive one, which live through the same.
private struct ThrottlePair {
    fileprivate(set) var naive: NaiveThrottle
    fileprivate var driven: DrivenThrottle
    private var nextID = 0
    private var verified = 0
    private let unit: Int64

    init(
        limit: UInt, perHost: UInt?, mostWaiting: Int, patience: PriorityTurns.Patience,
        partitions: [ThrottlePartition] = [], overload: ThrottleOverload? = nil, mayHasten: Bool = true
    ) {
        // Waits are in the units of the queues, and deadlines in nanoseconds.
        unit = overload == nil ? 1 : Duration.unit.saturatedNanoseconds
        naive = NaiveThrottle(
            limit: limit, perHost: perHost, mostWaiting: mostWaiting, patience: patience, partitions: partitions,
            overload: overload, mayHasten: mayHasten)
        driven = DrivenThrottle(
            DrivenThrottle.State(
                limit: limit, perHost: perHost, partitions: partitions, mostWaiting: mostWaiting, patience: patience,
                overload: overload, mayHasten: mayHasten))
    }

    /// Answers whether both did the same.
    @discardableResult
    mutating func happen(_ events: [ThrottleEvent]) -> Bool {
        for event in events {
            happen(event)
            let isSame = naive.log[verified...] == driven.log[min(verified, driven.log.count)...]
            verified = naive.log.count
            guard isSame, naive.snapshot == driven.snapshot, !driven.wentOverTheLimit,
                naive.worstPassing <= naive.patience.starts, naive.worstPassingAtHost <= naive.patience.starts
            else {
                Issue.record(
                    """
                    \(events.map { "\($0)" }.joined(separator: "\n")) led to
                    \(driven.log.suffix(8)) \(driven.snapshot), not to
                    \(naive.log.suffix(8)) \(naive.snapshot), passed by \(naive.worstPassing), \
                    at its host by \(naive.worstPassingAtHost)
                    """)
                return false
            }
        }
        return true
    }

    private mutating func happen(_ event: ThrottleEvent) {
        switch event {
        case .arrive(let priority, let host, let time, let partition):
            nextID += 1
            naive.arrive(nextID, priority, host, time, partition: partition)
            driven.arrive(nextID, priority, host, time, partition: partition)
        case .finish(let position) where !naive.running.isEmpty:
            let position = position % naive.running.count
            let id = naive.running[position].id
            naive.finish(position)
            driven.finish(id)
        case .giveUp(let position) where !naive.running.isEmpty:
            let position = position % naive.running.count
            let id = naive.running[position].id
            naive.finish(position, isGivenUp: true)
            driven.finish(id, isGivenUp: true)
        case .cancel(let position) where !naive.waiting.isEmpty:
            let position = position % naive.waiting.count
            let id = naive.waiting[position].id
            naive.cancel(position)
            driven.cancel(id)
        case .finish, .giveUp, .cancel:
            break  // No task is left for it.
        case .limit(let limit):
            naive.limit = limit
            naive.startWaiters()
            driven.setLimit(limit)
        case .perHost(let perHost):
            naive.setPerHost(perHost)
            driven.setPerHost(perHost)
        case .hostLimits(let limits):
            naive.setHostLimits(limits)
            driven.setHostLimits(limits)
        case .mostWaiting(let count):
            naive.setMostWaiting(count)
            driven.setMostWaiting(count)
        case .look:
            let (expected, pressure) = (naive.look(), driven.look())
            if pressure != expected { Issue.record("the pressure is \(pressure), not \(expected)") }
        case .time(let time):
            naive.pass(time * unit)
            driven.pass(time * unit)
        case .reset:
            nextID += 1
            naive.reset(nextID)
            driven.reset(nextID)
        }
    }
}

/// A state whose decisions are carried out at once; tasks and resets are numbers here.
private final class DrivenThrottle {
    typealias State = ThrottleState<Int, Int>

    private(set) var log: [String] = []
    private(set) var wentOverTheLimit = false
    private var state: State
    private var hosts: [Int: String] = [:]
    private var places: [Int: QueuePlace] = [:]
    private var slots: [Int: ThrottleSlot] = [:]
    private var arrivals: [Int: TimerInstant] = [:]
    /// Those that had waited longest when they started, and when they came and started.
    private var oldest: [Int: (arrival: TimerInstant, start: TimerInstant)] = [:]
    private var countsHosts: Bool
    private var now = TimerInstant.zero

    init(_ state: State) {
        self.state = state
        countsHosts = state.queues.countsHosts
    }

    var snapshot: Throttle.Snapshot { state.snapshot }

    private func origin(of id: Int) -> HTTPOrigin { HTTPOrigin(host: hosts[id] ?? "", port: nil) }

    func arrive(
        _ id: Int, _ priority: ThrottlePriority, _ host: String, _ time: Int64? = nil, partition: Int = 0
    ) {
        hosts[id] = host
        arrivals[id] = now
        let origin = countsHosts ? origin(of: id) : nil
        let number = UInt64(id)
        if let slot = origin.map({ state.start(number, for: $0, in: partition) }) ?? state.start(number) {
            state.queues.countStart(priority, in: slot.lane)
            return starts(id, slot)
        }
        let arrival = ThrottleArrival(
            number: number, priority: priority, origin: origin, partition: partition,
            latestStart: time.map { now.advanced(by: .nanoseconds($0)) } ?? .never, instant: now)
        switch state.arrive(id, arrival) {
        case .starts: Issue.record("\(id) could not start, and then could")
        case .waits(let place, let displaced):
            if let displaced {
                log.append("\(displaced) is displaced")
                hasLeft(displaced)
            }
            places[id] = place
        case .waitsInstead(let place, let other):
            log.append("\(other) is shed")
            hasLeft(other)
            places[id] = place
        case .isShed: log.append("\(id) is shed")
        case .isRefused: log.append("\(id) is refused")
        }
    }

    func finish(_ id: Int, isGivenUp: Bool = false) {
        log.append("\(id) ends")
        guard let slot = slots.removeValue(forKey: id) else {
            Issue.record("\(id) has no slot")
            return
        }
        if let (arrival, start) = oldest.removeValue(forKey: id) {
            state.queues.noteEnd(in: slot.lane, isGivenUp: isGivenUp, cameAt: arrival, startedAt: start, at: now)
        }
        let end = state.finish(slot, at: now)
        for reset in end.resets ?? [] { log.append("reset \(reset) ends") }
        if let next = end.next { take(next) }
        if let next = end.next, next.slot == nil || end.mayHaveMore { takeAll() }
        while let next = state.next(at: now) {
            Issue.record("a waiter was left that could run")
            take(next)
        }
    }

    func pass(_ time: Int64) { now = now.advanced(by: .nanoseconds(time)) }

    func cancel(_ id: Int) {
        guard let place = places[id], state.queues.remove(place) == id else {
            Issue.record("\(id) could not leave")
            return
        }
        log.append("\(id) leaves")
        hasLeft(id)
    }

    func setLimit(_ limit: UInt, meanwhile: () -> Void = {}) {
        state.limit = limit
        meanwhile()
        takeAll()
    }

    func setPerHost(_ perHost: UInt?) {
        if perHost != nil { countsHosts = true }
        state.setLimitPerHost(perHost, origins: origins)
        takeAll()
    }

    func setHostLimits(_ limits: [String: UInt]) {
        if !limits.isEmpty { countsHosts = true }
        state.setHostLimits(limits, origins: origins)
        takeAll()
    }

    private var origins: [QueuePlace: HTTPOrigin] {
        Dictionary(uniqueKeysWithValues: state.queues.uncounted.map { ($0.place, origin(of: $0.waiter)) })
    }

    func look() -> ThrottlePressure {
        let pressure = state.look(at: now)
        var shed: [Int] = []
        while let waiter = state.queues.takeSurplus() {
            shed.append(waiter)
            hasLeft(waiter)
        }
        // Those of one host have no order with those of another.
        for waiter in shed.sorted() { log.append("\(waiter) is shed") }
        return pressure
    }

    func setMostWaiting(_ count: Int) {
        state.setMostWaiting(count)
        while let waiter = state.displaced() {
            log.append("\(waiter) is displaced")
            hasLeft(waiter)
        }
    }

    func reset(_ id: Int) {
        let (left, isFinished) = state.reset(UInt64(id), id)
        for waiter in left.inOrder {
            log.append("\(waiter) leaves")
            hasLeft(waiter)
        }
        if isFinished { log.append("reset \(id) ends") }
    }

    private func takeAll() {
        while let next = state.next(at: now) { take(next) }
    }

    private func take(_ turn: State.Turn) {
        hasLeft(turn.waiter)
        guard let slot = turn.slot else { return log.append("\(turn.waiter) is too late") }
        if turn.isOldest { oldest[turn.waiter] = (arrivals[turn.waiter] ?? now, now) }
        if slot.number != UInt64(turn.waiter) { Issue.record("\(turn.waiter) has the slot of another") }
        starts(turn.waiter, slot)
    }

    private func starts(_ id: Int, _ slot: ThrottleSlot) {
        slots[id] = slot
        if state.running > state.limit { wentOverTheLimit = true }
        log.append("\(id) starts")
    }

    /// Its place leads nowhere from now on, for every task that comes there.
    private func hasLeft(_ id: Int) {
        guard let place = places[id], !state.queues.holds(place), state.queues.remove(place) == nil else {
            Issue.record("\(id) did not wait, or waits still")
            return
        }
    }
}
