import Testing

@testable import LoaderChain

/// Random walks against a model that keeps every call it ever counted.
@Suite(.timeLimit(.minutes(10))) struct CircuitStateTests {
    @Test(arguments: 0..<10) func randomWalksAgreeWithListOfAllCalls(group: UInt64) {
        takeWalks(group: group) { seed in
            let walk = CircuitWalk(seed: seed)
            walk.run(steps: 80)
            return walk.fault
        }
    }

    @Test func openDurationDoublesUpToMaximum() {
        let settings = CircuitBreaker.Settings(
            failureRatio: 1, minimumNumberOfCalls: 1, openDuration: .seconds(3), maximumOpenDuration: .seconds(20),
            jitter: 0.5)
        var now = TimerInstant(nanoseconds: 0)
        var state = CircuitState(settings, at: now)
        let random = RandomSource(seed: 5)
        for shortest in [3, 6, 12, 20, 20] {
            guard case .passes(let period) = state.admit(at: now) else {
                Issue.record("refused at \(now)")
                return
            }
            state.record(.failure, of: period, at: now, jitteredBy: random)
            guard case .refused(let end) = state.admit(at: now) else {
                Issue.record("admitted at \(now)")
                return
            }
            #expect((Duration.seconds(shortest)...(.seconds(shortest) * 1.5)).contains(now.duration(to: end)))
            now = end
        }
    }
}

private final class CircuitWalk {
    private(set) var fault = ""
    private var random: SeededGenerator
    private let settings: CircuitBreaker.Settings
    private let slice: Int64
    private var state: CircuitState
    private var now: Int64 = 0

    // The naive model.
    private enum Phase: Equatable { case closed, open(until: Int64), halfOpen }
    private var phase = Phase.closed
    private var counted: [(slice: Int64, failed: Bool)] = []
    private var openings = 0
    private var successes = 0
    private var (lastProbe, lastPause): (Int64, Int64) = (0, 0)
    private struct Call {
        let period: UInt64
        let phaseNumber: Int
    }
    private var running: [Call] = []
    private var phaseNumber = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        slice = Int64.random(in: 1...50, using: &random)
        settings = CircuitBreaker.Settings(
            failureRatio: [0.25, 0.5, 0.75, 1].randomElement(using: &random) ?? 1,
            minimumNumberOfCalls: Int.random(in: 1...6, using: &random), window: .nanoseconds(slice * 10),
            openDuration: .nanoseconds(100), maximumOpenDuration: .nanoseconds(350), jitter: 0,
            probes: Int.random(in: 1...3, using: &random))
        state = CircuitState(settings, at: TimerInstant(nanoseconds: 0))
    }

    private var instant: TimerInstant { TimerInstant(nanoseconds: now) }

    func run(steps: Int) {
        for _ in 0..<steps where fault.isEmpty {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: call()
            case 4..<8: answer()
            case 8: now += Int64.random(in: 0...(Bool.random(using: &random) ? slice : 150), using: &random)
            default: if Int.random(in: 0..<10, using: &random) == 0 { reset() }
            }
            check()
        }
    }

    private func call() {
        if case .open(let end) = phase, now >= end { enter(.halfOpen) }
        let probing = running.count { $0.phaseNumber == phaseNumber }
        switch (phase, state.admit(at: instant)) {
        case (.closed, .passes(let period)): running.append(Call(period: period, phaseNumber: phaseNumber))
        case (.halfOpen, .passes(let period))
        where probing + successes < settings.probes || now >= lastProbe + lastPause:
            running.append(Call(period: period, phaseNumber: phaseNumber))
            lastProbe = now
        case (.halfOpen, .refused(let until))
        where probing + successes >= settings.probes && until.nanoseconds == lastProbe + lastPause: break
        case (.open(let end), .refused(let until)) where until.nanoseconds == end: break
        case (_, let admission): expect(false, "\(admission) while \(phase) with \(probing) running")
        }
    }

    private func answer() {
        guard let index = running.indices.randomElement(using: &random) else { return }
        let call = running.remove(at: index)
        let verdict =
            [CircuitBreaker.Verdict.success, .failure, .failure, .nothing].randomElement(using: &random) ?? .nothing
        state.record(verdict, of: call.period, at: instant, jitteredBy: RandomSource(seed: 0))
        guard call.phaseNumber == phaseNumber, verdict != .nothing else { return }
        if phase == .halfOpen {
            if verdict == .failure { return open() }
            successes += 1
            if successes >= settings.probes { reset(telling: false) }
            return
        }
        counted.append((now / slice, verdict == .failure))
        guard verdict == .failure else { return }
        let calls = recent
        let failed = calls.count(where: \.failed)
        if calls.count >= settings.minimumNumberOfCalls,
            Double(failed) / Double(calls.count) >= settings.failureRatio
        {
            open()
        }
    }

    private var recent: [(slice: Int64, failed: Bool)] { counted.filter { $0.slice > now / slice - 10 } }

    private func open() {
        let duration: Int64 = min(350, 100 << Int64(min(openings, 10)))
        openings += 1
        lastPause = duration
        enter(.open(until: now + duration))
    }

    private func reset(telling: Bool = true) {
        if telling { state.close() }
        counted = []
        openings = 0
        enter(.closed)
    }

    private func enter(_ phase: Phase) {
        self.phase = phase
        phaseNumber += 1
        successes = 0
    }

    private func check() {
        let name: CircuitBreaker.State =
            switch phase {
            case .closed: .closed
            case .open: .open
            case .halfOpen: .halfOpen
            }
        expect(state.name == name, "\(state.name), not \(name)")
        guard phase == .closed else { return }
        let calls = state.calls(at: instant)
        expect(calls.all == recent.count && calls.failed == recent.count(where: \.failed), "\(calls), not \(recent)")
    }

    private func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, fault.isEmpty { fault = message() }
    }
}
