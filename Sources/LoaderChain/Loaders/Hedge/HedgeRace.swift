import Dispatch

/// One task on its way through ``Hedge``, from its first attempt to the end of its last.
///
/// A race keeps the task, which the loaders below do not have, and observes the first attempt. Attempts are held by the loaders
/// that have them. The task's completion cancels the loser.
final class HedgeRace: HTTPTaskWaitObserver, @unchecked Sendable {
    typealias State = HedgeState<HTTPResult, DispatchGroup>

    /// Its place among the races of its loader, whose lock protects this.
    var place = QueuePlace.nowhere

    private let hedge: Hedge
    private let desk: HedgeDesk
    private let task: HTTPTask
    private let kind: HedgeKind
    private let state: InPlaceLocked<State>
    private let alarm = Alarm()

    init(_ task: HTTPTask, of kind: HedgeKind, delay: Duration, _ hedge: Hedge) {
        self.hedge = hedge
        desk = hedge.desk
        self.task = task
        self.kind = kind
        state = InPlaceLocked(State(delay: delay, at: desk.clock.now))
    }

    var isHedged: Bool { state.withLock { $0.second == .underWay } }

    func begin() {
        let attempt = task.makeAttempt()
        attempt.addWaitObserver(self)
        hedge.pass(attempt)
        // A terminal that responds at once costs no timer.
        setAlarm()
    }

    // MARK: The alarm

    private func setAlarm() {
        let now = desk.clock.now
        alarm.set(on: desk.clock.timers, for: { state.withLock { $0.alarmTime(at: now) } }) { self.ring() }
    }

    private func ring() {
        let now = desk.clock.now
        if state.withLock({ $0.ring(at: now) }) { sendSecond() } else { setAlarm() }
    }

    // MARK: The second attempt

    private func sendSecond() {
        let request = task.request
        guard desk.takeHedge(for: request, of: kind, timeLeft: request.deadline?.remaining) else { return }
        guard state.withLock({ $0.prepare() }) else { return desk.giveBack() }
        let attempt = task.makeAttempt()
        attempt.addWaitObserver(HedgeSecond(attempt, in: self))
        hedge.pass(attempt) { state.withLock { $0.send() } }
        if state.withLock({ $0.hasStarted() }) { desk.report(.sent, of: kind) }
    }

    /// Cancels the second attempt because it has to wait in a queue; returns whether the attempt has to be cancelled.
    fileprivate func withdraw() -> Bool {
        guard let before = state.withLock({ $0.withdraw() }) else { return false }
        if before == .starting { suppress(.queue) }
        return true
    }

    private func suppress(_ reason: Hedge.Suppression) {
        desk.giveBack()
        desk.report(.suppressed(reason), of: kind)
    }

    /// Reports what has become of the second attempt.
    private func report(_ end: State.End, with result: HTTPResult) {
        let hasWon = end.winner == .second
        switch end.second {
        case .unsent, .withdrawn, .ended: return
        case .prepared: return desk.giveBack()
        case .starting where !hasWon && result.isRefusal: return suppress(.refused)
        case .starting: desk.report(.sent, of: kind)
        case .underWay: break
        }
        desk.report(hasWon ? .won : .lost, of: kind)
    }

    // MARK: The first attempt

    func waitBegan() {
        let now = desk.clock.now
        state.withLock { $0.beginWait(at: now) }
    }

    func waitEnded() {
        let now = desk.clock.now
        state.withLock { $0.endWait(at: now) }
        setAlarm()
    }

    func task(_ attempt: HTTPTask, didCompleteWith result: HTTPResult) { end(.first, with: result) }

    func taskWasCancelled(_ attempt: HTTPTask) {
        // A loser is cancelled because the task has its result, which needs nothing more.
        guard task.isCancelled else { return }
        state.withLock { $0.cancel() }
        alarm.end()
    }

    // MARK: The end

    fileprivate func end(_ attempt: State.Attempt, with result: HTTPResult) {
        let now = desk.clock.now
        let isAcceptable = result.isAcceptable
        let end = state.withLock { $0.end(attempt, with: result, isAcceptable: isAcceptable, at: now) }
        if attempt == .first { alarm.end() }
        if let time = end.time { kind.note(time, until: attempt == .first ? result : nil, wasSlow: end.isSlow) }
        desk.note(result, from: kind.host)
        if attempt == .second { report(end, with: result) }
        var waiters = end.waiters
        if let outcome = end.outcome {
            task.complete(end.wasHedged ? outcome.numbered(outcome.attempts + 1) : outcome)
            // After the completion, so that a reset that comes meanwhile waits for it.
            waiters = state.withLock { $0.settle() }
        }
        guard let waiters else { return }
        hedge.forget(self)
        for group in waiters { group.leave() }
    }

    // MARK: Resets

    /// Prevents a second attempt, and lets the group wait for those that are under way.
    func reset(with group: DispatchGroup) {
        group.enter()
        let waits = state.withLock { $0.reset(group) }
        if waits { alarm.end() } else { group.leave() }
    }

    func giveUpReset(of group: DispatchGroup) {
        for group in state.withLock({ $0.giveUp { $0 === group } }) { group.leave() }
    }
}

private final class HedgeSecond: HTTPTaskWaitObserver, @unchecked Sendable {
    private let race: HedgeRace
    private weak let attempt: HTTPTask?

    init(_ attempt: HTTPTask, in race: HedgeRace) {
        self.attempt = attempt
        self.race = race
    }

    func waitBegan() {
        // Not the body of a response that it has just handed on.
        if race.withdraw() { attempt?.stop(atDeadline: false) }
    }

    func waitEnded() {}

    func task(_ attempt: HTTPTask, didCompleteWith result: HTTPResult) { race.end(.second, with: result) }

    func taskWasCancelled(_ attempt: HTTPTask) { race.taskWasCancelled(attempt) }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// Whether there is no response because nothing was sent, if this was the result at once.
    fileprivate var isRefusal: Bool { response == nil && error?.code != .cancelled && error?.code != .deadlineExceeded }
}
