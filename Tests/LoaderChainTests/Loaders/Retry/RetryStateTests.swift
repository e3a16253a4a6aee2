import Testing

@testable import LoaderChain

/// Random walks through the life of a retried task, whose pauses end at any time, also long after they are over.
@Suite(.timeLimit(.minutes(10))) struct RetryStateTests {
    @Test(arguments: 0..<10) func randomWalksAgreeWithNaiveState(group: UInt64) {
        takeWalks(group: group) { seed in
            let walk = RetryWalk(seed: seed)
            walk.run(steps: 40)
            return walk.fault
        }
    }
}

/// What the world knows of a retried task: one attempt at a time, and the numbers of all pauses.
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

    /// The number of the pause that is not over, and those of all pauses.
    private var current: Int?
    private var numbers: Set<Int> = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func run(steps: Int) {
        for _ in 0..<steps where fault.isEmpty { step() }
        expect(state.attempts == started, "\(state.attempts) attempts, not \(started)")
    }

    private func step() {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: attemptEnds()
        case 1: goOn()
        case 2: pause()
        case 3: if attempt == .decided { end() }
        case 4: interrupt(state.interrupt())
        case 5: reset()
        default: resume()
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
        expect(numbers.insert(number).inserted, "two pauses have the number \(number)")
        current = number
    }

    private func end() {
        let told = state.end()
        expect(told.count == waiting.count && Set(told) == waiting, "told \(told), not \(waiting)")
        waiting = []
        attempt = .over
    }

    private func interrupt(_ ended: Int?) {
        guard case .pausing(let number) = attempt else { return expect(ended == nil, "an interrupt without a pause") }
        expect(ended == number, "interrupted \(String(describing: ended)), not \(number)")
        current = nil
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

    /// The alarm of a pause rings, perhaps of one that is no more.
    private func resume() {
        guard let number = numbers.sorted().randomElement(using: &random) else { return }
        let isGood = current == number
        expect(state.isPausing(number) == isGood, "the pause \(number) is not over: \(!isGood)")
        if let pause = state.resume(number) {
            expect(isGood, "a pause that is no more")
            expect(attempt == .pausing(pause), "resumed \(pause) while \(attempt)")
            started += 1
            attempt = .running
            current = nil
        } else {
            expect(!isGood, "the alarm of the present pause did nothing")
        }
    }

    private func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, fault.isEmpty { fault = message() }
    }
}
