import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The pure state of a throttle against the naive one.
@Suite(.timeLimit(.minutes(10))) struct ThrottleStateTests {
    @Test func everySequenceOfFiveEvents() {
        let alphabet: [ThrottleEvent] = [
            .arrive(.normal, host: "a"), .arrive(.high, host: "a"), .arrive(.low, host: "b"),
            .finish(0), .cancel(0), .limit(0), .limit(2), .reset,
        ]
        var sequences = 0
        forEachSequence(of: alphabet, upTo: 5) { sequence in
            sequences += 1
            var pair = ThrottlePair(limit: 1, perHost: nil, mostWaiting: 3, patience: 1)
            pair.happen(sequence)
        }
        #expect(sequences == 37_448)
    }

    @Test func everySequenceOfFiveEventsWithALimitPerHost() {
        let alphabet: [ThrottleEvent] = [
            .arrive(.normal, host: "a"), .arrive(.high, host: "b"), .arrive(.low, host: "a"),
            .finish(0), .cancel(0), .perHost(0), .perHost(nil), .reset,
        ]
        forEachSequence(of: alphabet, upTo: 5) { sequence in
            var pair = ThrottlePair(limit: 2, perHost: 1, mostWaiting: .max, patience: 1)
            pair.happen(sequence)
        }
    }

    @Test func tenThousandWalks() {
        for seed in 0..<10_000 as Range<UInt64> {
            var dice = SeededGenerator(seed: seed)
            var pair = ThrottlePair(
                limit: UInt.random(in: 0...4, using: &dice),
                perHost: [nil, nil, 1, 2, .max].randomElement(using: &dice) ?? nil,
                mostWaiting: [.max, .max, 0, 5].randomElement(using: &dice) ?? .max,
                patience: Int.random(in: 1...3, using: &dice))
            let setsPerHost = dice.next() % 2 == 0
            let events = (0..<60).map { _ in ThrottleEvent.random(settingPerHost: setsPerHost, using: &dice) }
            guard pair.happen(events) else {
                Issue.record("seed \(seed)")
                return
            }
        }
    }

    @Test(arguments: [nil, 5] as [UInt?])
    func aNewcomerDoesNotOvertakeWhoIsAboutToStart(perHost: UInt?) {
        let driven = DrivenThrottle(ThrottleState(limit: 0, perHost: perHost))
        driven.arrive(1, .normal, "a")
        driven.arrive(2, .normal, "b")
        // The limit has been raised, and the one who raised it has not come to start anybody yet.
        driven.setLimit(5) { driven.arrive(3, .normal, "a") }
        #expect(driven.log == ["1 starts", "2 starts", "3 starts"])
    }

    @Test func theFirstInLineIsPassedByEightAtMost() {
        var pair = ThrottlePair(limit: 1, perHost: nil, mostWaiting: .max, patience: PriorityTurns.patience)
        pair.happen([.arrive(.normal, host: "a"), .arrive(.low, host: "a"), .arrive(.normal, host: "a")])
        for _ in 0..<100 { pair.happen([.arrive(.high, host: "a"), .arrive(.high, host: "a"), .finish(0)]) }
        #expect(pair.naive.worstPassing == 8)
        #expect(!pair.naive.waiting.contains { $0.priority != .high })
    }

    @Test func itStaysOutOfTheWayOfTheHighestWhenTheLowestNeverEnd() {
        var turns = PriorityTurns(patience: 2)
        let all = PerPriority(true)
        let order = (0..<9).compactMap { _ in turns.next(all) }
        #expect(order == [.high, .high, .low, .normal, .high, .low, .high, .normal, .low])
        #expect(turns.next(PerPriority(false)) == nil)
    }
}

extension ThrottleEvent {
    static func random(settingPerHost: Bool, using dice: inout SeededGenerator) -> ThrottleEvent {
        switch dice.next() % 16 {
        case 0...6:
            let priority = ThrottlePriority.allCases.randomElement(using: &dice) ?? .normal
            return .arrive(priority, host: ["a", "b", "c"].randomElement(using: &dice) ?? "")
        case 7...11: return .finish(Int(dice.next() % 8))
        case 12, 13: return .cancel(Int(dice.next() % 8))
        case 14 where settingPerHost && dice.next() % 2 == 0:
            return .perHost(dice.next() % 4 == 0 ? nil : UInt(dice.next() % 3))
        case 14: return .limit(UInt(dice.next() % 5))
        default: return dice.next() % 4 == 0 ? .reset : .limit(UInt(dice.next() % 3))
        }
    }
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
    private(set) var naive: NaiveThrottle
    private var driven: DrivenThrottle
    private var nextID = 0
    private var verified = 0

    init(limit: UInt, perHost: UInt?, mostWaiting: Int, patience: Int) {
        naive = NaiveThrottle(limit: limit, perHost: perHost, mostWaiting: mostWaiting, patience: patience)
        driven = DrivenThrottle(
            ThrottleState(limit: limit, perHost: perHost, mostWaiting: mostWaiting, patience: patience))
    }

    /// Answers whether both did the same.
    @discardableResult
    mutating func happen(_ events: [ThrottleEvent]) -> Bool {
        for event in events {
            happen(event)
            let isSame = naive.log[verified...] == driven.log[min(verified, driven.log.count)...]
            verified = naive.log.count
            guard isSame, naive.snapshot == driven.snapshot, !driven.wentOverTheLimit,
                naive.countsHosts || naive.worstPassing <= naive.patience
            else {
                Issue.record(
                    """
                    \(events.map { "\($0)" }.joined(separator: "\n")) led to
                    \(driven.log.suffix(8)) \(driven.snapshot), not to
                    \(naive.log.suffix(8)) \(naive.snapshot), passed by \(naive.worstPassing)
                    """)
                return false
            }
        }
        return true
    }

    private mutating func happen(_ event: ThrottleEvent) {
        switch event {
        case .arrive(let priority, let host):
            nextID += 1
            naive.arrive(nextID, priority, host)
            driven.arrive(nextID, priority, host)
        case .finish(let position) where !naive.running.isEmpty:
            let position = position % naive.running.count
            let id = naive.running[position].id
            naive.finish(position)
            driven.finish(id)
        case .cancel(let position) where !naive.waiting.isEmpty:
            let position = position % naive.waiting.count
            let id = naive.waiting[position].id
            naive.cancel(position)
            driven.cancel(id)
        case .finish, .cancel:
            break  // There is nobody whom it could happen to.
        case .limit(let limit):
            naive.limit = limit
            naive.startWaiters()
            driven.setLimit(limit)
        case .perHost(let perHost):
            naive.setPerHost(perHost)
            driven.setPerHost(perHost)
        case .reset:
            nextID += 1
            naive.reset(nextID)
            driven.reset(nextID)
        }
    }
}

/// A state whose decisions are carried out at once.
private final class DrivenThrottle {
    private(set) var log: [String] = []
    private(set) var wentOverTheLimit = false
    private let state: Guarded<ThrottleState>
    private var waiters: [Int: ThrottleWaiter] = [:]
    private var atOnce: [Int: HTTPTask] = [:]
    private var ids: [UInt64: Int] = [:]
    private var groups: [ObjectIdentifier: Int] = [:]

    init(_ state: ThrottleState) { self.state = Guarded(state) }

    deinit {
        var left = state.withLock { $0.removeAll() }
        while let link = left.popFirst() { _ = link.takeRetainedValue().takeTask() }
    }

    var snapshot: Throttle.Snapshot { state.withLock { $0.snapshot } }

    func arrive(_ id: Int, _ priority: ThrottlePriority, _ host: String) {
        var request = HTTPRequest(host: host)
        request.priority = priority
        let task = HTTPTask(request: request)
        ids[task.number] = id
        if state.withLock({ $0.start(task.number) }) {
            atOnce[id] = task
            return starts(id)
        }
        let waiter = ThrottleWaiter(task, isMeasured: false, in: state)
        waiters[id] = waiter
        let link = WaiterList.Link.passRetained(waiter)
        switch state.withLock({ $0.arrive(link) }) {
        case .starts: starts(link)
        case .waits: break
        case .isRefused:
            link.release()
            log.append("\(id) is refused")
        case .isOver: Issue.record("\(id) was over before it began")
        }
    }

    func finish(_ id: Int) {
        log.append("\(id) ends")
        let end = state.withLock { state in
            if let task = atOnce[id] { return state.finish(task.number) }
            return waiters[id].map { state.end($0) } ?? ThrottleState.End()
        }
        for group in end.resets ?? [] { log.append("reset \(groups[ObjectIdentifier(group)] ?? 0) ends") }
        if let next = end.next { starts(next) }
        while let link = state.withLock({ $0.next() }) {
            Issue.record("a waiter was left that could run")
            starts(link)
        }
    }

    func cancel(_ id: Int) {
        guard let waiter = waiters[id], state.withLock({ $0.leave(waiter) }) else { return }
        log.append("\(id) leaves")
        // What comes too late changes nothing.
        _ = waiter.takeTask()
        if state.withLock({ $0.leave(waiter) || $0.end(waiter).next != nil }) { Issue.record("\(id) left twice") }
    }

    func setLimit(_ limit: UInt, meanwhile: () -> Void = {}) {
        state.withLock { $0.limit = limit }
        meanwhile()
        while let link = state.withLock({ $0.next() }) { starts(link) }
    }

    func setPerHost(_ perHost: UInt?) {
        state.withLock { $0.setPerHost(perHost) }
        while let link = state.withLock({ $0.next() }) { starts(link) }
    }

    func reset(_ id: Int) {
        let group = DispatchGroup()
        groups[ObjectIdentifier(group)] = id
        kept.append(group)
        var (left, isFinished) = state.withLock { $0.reset(TaskIdentity.next(), group) }
        var ended: [Int] = []
        while let link = left.popFirst() {
            let waiter = link.takeRetainedValue()
            ended.append(ids[waiter.number] ?? 0)
            if state.withLock({ $0.leave(waiter) }) { Issue.record("it left after it had been taken out") }
            _ = waiter.takeTask()
        }
        log += ended.sorted().map { "\($0) leaves" }
        if isFinished { log.append("reset \(id) ends") }
    }

    /// Groups are known by their identity, so none may be replaced by another.
    private var kept: [DispatchGroup] = []

    private func starts(_ link: WaiterList.Link) {
        let waiter = link.takeRetainedValue()
        _ = waiter.takeTask()
        starts(ids[waiter.number] ?? 0)
    }

    private func starts(_ id: Int) {
        if state.withLock({ $0.running > $0.limit }) { wentOverTheLimit = true }
        log.append("\(id) starts")
    }
}
