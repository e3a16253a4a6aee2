/// Measures a task of which too little is known to hedge it.
final class HedgeSampler: HTTPTaskWaitObserver {
    private let desk: HedgeDesk
    private let kind: HedgeKind
    private let time: InPlaceLocked<ActiveTime>

    init(_ kind: HedgeKind, _ desk: HedgeDesk) {
        self.desk = desk
        self.kind = kind
        time = InPlaceLocked(ActiveTime(since: desk.clock.now))
    }

    func waitBegins() {
        let now = desk.clock.now
        time.withLock { $0.beginWait(at: now) }
    }

    func waitEnded() {
        let now = desk.clock.now
        time.withLock { $0.endWait(at: now) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        let now = desk.clock.now
        kind.note(time.withLock { $0.passed(at: now) }, until: result, wasSlow: false)
        desk.note(result, from: kind.host)
    }
}
