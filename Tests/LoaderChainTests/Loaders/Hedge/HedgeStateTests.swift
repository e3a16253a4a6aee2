import Testing

@testable import LoaderChain

/// The race of a request: every order of a few events, and random walks of many, against what the definition says.
@Suite(.timeLimit(.minutes(10))) struct HedgeStateTests {
    @Test func everyOrderOfSixEventsAgreesWithDefinition() {
        var count = 0
        var fault: String?
        func visit(_ world: HedgeWorld, _ depth: Int) {
            guard fault == nil else { return }
            if depth == 0 { return count += 1 }
            var isEnd = true
            for event in HedgeEvent.allCases where world.allows(event) {
                isEnd = false
                var next = world
                next.take(event)
                if let found = next.fault {
                    fault = "\(next.history): \(found)"
                    return
                }
                visit(next, depth - 1)
            }
            if isEnd { count += 1 }
        }
        visit(HedgeWorld(), 6)
        #expect(fault == nil)
        #expect(count > 1_000, "\(count)")
    }

    @Test func randomWalksAgreeWithDefinition() {
        takeWalks(seeds: 0..<1_000) { seed in
            var random = SeededGenerator(seed: seed)
            var world = HedgeWorld()
            for _ in 0..<20 {
                guard let event = HedgeEvent.allCases.filter(world.allows).randomElement(using: &random) else { break }
                world.take(event)
                if let fault = world.fault { return "\(world.history): \(fault)" }
            }
            return nil
        }
    }

    /// Time passes in steps of a millisecond; some of them are waits.
    @Test func secondAttemptIsDueAfterDelayOutsideQueues() {
        takeWalks(seeds: 0..<300) { seed in
            var random = SeededGenerator(seed: seed)
            let delay = Int64.random(in: 0...20, using: &random)
            var (now, waits, active, dueAt) = (Int64(0), 0, Int64(0), Int64?.none)
            var instant: TimerInstant { TimerInstant(nanoseconds: now * 1_000_000) }
            var state = HedgeState<Int, Int>(delay: .milliseconds(delay), at: instant)
            // As the owner has it: set at the beginning, after each wait, and after a ring that was early.
            var alarm = state.alarmTime(at: instant)
            for _ in 0..<200 where dueAt == nil {
                if let moment = alarm, moment <= instant {
                    if state.ring(at: instant) {
                        dueAt = now
                        if state.alarmTime(at: instant) != nil { return "it rings again" }
                    } else {
                        alarm = state.alarmTime(at: instant)
                        if waits == 0, alarm == nil { return "it does not ring again" }
                    }
                }
                if dueAt != nil { break }
                if waits == 0, active > delay { return "it is not due after \(active) of \(delay)" }
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where now < 100:
                    waits += 1
                    state.beginWait(at: instant)
                case 1 where waits > 0, 2 where waits > 0:
                    waits -= 1
                    state.endWait(at: instant)
                    alarm = state.alarmTime(at: instant)
                    if waits > 0, alarm != nil { return "it was set during a wait" }
                default:
                    now += 1
                    if waits == 0 { active += 1 }
                }
            }
            if dueAt != nil, waits > 0 || active != delay { return "due after \(active) of \(delay), waits \(waits)" }
            return nil
        }
    }

    @Test(arguments: ["cancel", "reset", "end"]) func cancelledResetOrEndedRaceHasNoAlarm(_ event: String) {
        let start = TimerInstant(nanoseconds: 0)
        var state = HedgeState<Int, Int>(delay: .seconds(1), at: start)
        #expect(state.alarmTime(at: start) == start.advanced(by: .seconds(1)))
        switch event {
        case "cancel": state.cancel()
        case "reset":
            let waits = state.reset(1)
            #expect(waits)
        default: _ = state.end(.first, with: 1, isAcceptable: true, at: start)
        }
        let isDue = state.ring(at: TimerInstant(nanoseconds: .max))
        #expect(!isDue && state.alarmTime(at: start) == nil)
    }
}

/// What can happen to a race.
private enum HedgeEvent: CaseIterable {
    /// The second attempt is prepared and passed on in one step; or it is prepared, and passed on when other things have
    /// happened.
    case send, prepare, passOn
    /// The second attempt has been passed on.
    case started
    /// The second attempt begins to wait in a queue.
    case withdraw
    case firstResponds, firstFails, secondResponds, secondFails
    /// The task has been completed.
    case settle
    case cancel, reset

    var isEnd: Bool { [.firstResponds, .firstFails, .secondResponds, .secondFails].contains(self) }
    var isOfSecond: Bool { [.secondResponds, .secondFails].contains(self) }
}

/// A race, and the history from which a definition derives its outcome.
private struct HedgeWorld {
    private(set) var history: [HedgeEvent] = []
    private(set) var fault: String?
    private var state = HedgeState<Int, Int>(delay: .zero, at: TimerInstant(nanoseconds: 0))
    private var outcome: Int?
    private var wakes = 0

    private func has(_ events: HedgeEvent...) -> Bool { history.contains { events.contains($0) } }

    /// Whether the world could do this now.
    func allows(_ event: HedgeEvent) -> Bool {
        switch event {
        case .send, .prepare: !has(.send, .prepare)
        case .passOn: has(.prepare) && !has(.passOn)
        case .started: has(.send, .passOn) && !has(.started)
        case .withdraw: wasPassedOn && !has(.withdraw, .secondResponds, .secondFails)
        case .firstResponds, .firstFails: !has(.firstResponds, .firstFails)
        case .secondResponds: wasPassedOn && !has(.secondResponds, .secondFails)
        case .secondFails: wasSent && !has(.secondResponds, .secondFails)
        case .settle: outcome != nil && !has(.settle)
        case .cancel: !has(.cancel)
        case .reset: !has(.reset)
        }
    }

    mutating func take(_ event: HedgeEvent) {
        history.append(event)
        let now = TimerInstant(nanoseconds: Int64(history.count))
        let moment = history.count
        switch event {
        case .send: expect(state.prepare() && state.send(), wasSent, "sent")
        case .prepare: expect(state.prepare(), wasSent, "prepared")
        case .passOn: expect(state.send(), wasPassedOn, "passed on")
        case .started: expect(state.hasStarted(), isStarted(at: moment), "started")
        case .withdraw:
            let before = state.withdraw()
            let decided = decision(before: moment) != nil
            expect(before, decided ? nil : has(.started) ? .underWay : .starting, "withdrawn")
        case .firstResponds, .firstFails:
            end(.first, isAcceptable: event == .firstResponds, at: now)
        case .secondResponds, .secondFails:
            end(.second, isAcceptable: event == .secondResponds, at: now)
        case .settle: wake(state.settle())
        case .cancel: state.cancel()
        case .reset: expect(!state.reset(1), isOver(before: moment), "over at the reset")
        }
        let isWoken = isOver(before: moment + 1) && has(.reset) && !wasOverAtReset
        expect(wakes, isWoken ? 1 : 0, "resets that were woken")
        expect(state.isOver, isOver(before: moment + 1), "over")
    }

    private mutating func end(_ attempt: HedgeState<Int, Int>.Attempt, isAcceptable: Bool, at now: TimerInstant) {
        let moment = history.count
        let end = state.end(attempt, with: moment, isAcceptable: isAcceptable, at: now)
        wake(end.waiters)
        let decisive = decision(before: moment + 1)
        let isNew = decision(before: moment) == nil && decisive != nil
        // What ends before it was passed on has cost nothing.
        expect(end.second == .prepared, attempt == .second && !wasPassedOn || isPrepared, "prepared at the end")
        expect(end.outcome, isNew ? decisive?.outcome : nil, "the outcome")
        expect(end.winner, isNew ? decisive?.winner : nil, "the winner")
        // The first attempt's time is known when it ends or loses, and noted once.
        let firstEnds = attempt == .first && decision(before: moment) == nil
        let firstLoses = isNew && decisive?.winner == .second && !has(.firstResponds, .firstFails)
        expect(end.time, firstEnds || firstLoses ? .nanoseconds(moment) : nil, "the time")
        if isNew { outcome = end.outcome }
    }

    // MARK: The definition

    /// Whether there was a second attempt: the first was alone, and nothing had ended the watch over it.
    private var wasSent: Bool { Self.hasSecond(history[...]) }

    private static func hasSecond(_ known: ArraySlice<HedgeEvent>) -> Bool {
        guard let send = known.firstIndex(where: { $0 == .send || $0 == .prepare }) else { return false }
        return !known[..<send].contains { [.firstResponds, .firstFails, .cancel, .reset].contains($0) }
    }

    /// Whether the second attempt was passed on: it had not ended before.
    private var wasPassedOn: Bool {
        guard wasSent else { return false }
        if has(.send) { return true }
        guard let passed = history.firstIndex(of: .passOn) else { return false }
        return !history[..<passed].contains(where: \.isOfSecond)
    }

    /// Whether there is a second attempt that has neither been passed on nor ended.
    private var isPrepared: Bool {
        wasSent && !has(.send, .passOn, .secondResponds, .secondFails)
    }

    private func isStarted(at moment: Int) -> Bool {
        wasPassedOn && !history[..<(moment - 1)].contains { $0.isOfSecond || $0 == .withdraw && decisionAllows($0) }
    }

    /// Whether a withdrawal had an effect: the task had no result yet.
    private func decisionAllows(_ event: HedgeEvent) -> Bool {
        guard let index = history.firstIndex(of: event) else { return false }
        return decision(before: index + 1) == nil
    }

    /// What the first `moment - 1` events have decided, and by which.
    private func decision(before moment: Int) -> (winner: HedgeState<Int, Int>.Attempt, outcome: Int)? {
        let known = history.prefix(moment - 1)
        var firstEnd: Int?
        for (index, event) in known.enumerated() where event.isEnd {
            if !event.isOfSecond { firstEnd = index + 1 }
            let before = known[..<index]
            let isCut = before.contains(.cancel)
            let withdrawal = before.firstIndex(of: .withdraw)
            let isWithdrawn = event.isOfSecond && withdrawal.map { !known[..<$0].contains(.started) } ?? false
            let isGood = event == .firstResponds || event == .secondResponds
            if isGood, !isCut, !isWithdrawn { return (event.isOfSecond ? .second : .first, index + 1) }
            let ends = known[...index].count(where: \.isEnd)
            if ends == (Self.hasSecond(known[..<index]) ? 2 : 1), let firstEnd { return (.first, firstEnd) }
        }
        return nil
    }

    private func isOver(before moment: Int) -> Bool {
        let known = history.prefix(moment - 1)
        return known.contains(.settle) && known.count(where: \.isEnd) == (wasSent ? 2 : 1)
    }

    private var wasOverAtReset: Bool {
        guard let reset = history.firstIndex(of: .reset) else { return false }
        return isOver(before: reset + 1)
    }

    private mutating func wake(_ waiters: [Int]?) { wakes += waiters?.count ?? 0 }

    private mutating func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) {
        if found != expected, fault == nil { fault = "\(what): \(found), not \(expected)" }
    }
}
