/// The measurement of one task: the only allocation that measuring costs.
///
/// It observes the task's waits and its end. The task keeps it until then; it keeps neither the task nor the tap.
final class TaskMeasurement: HTTPTaskWaitObserver {
    private let settings: MetricsTap.Settings
    private let start: TimerInstant
    private let active: ActiveRequests.Place?
    private let waits = InPlaceLocked(WaitClock())

    init(by settings: MetricsTap.Settings, active: ActiveRequests.Place?) {
        self.settings = settings
        self.active = active
        start = settings.now
    }

    func waitBegins() {
        let now = settings.now
        waits.withLock { $0.begin(at: now) }
    }

    func waitEnded() {
        let now = settings.now
        waits.withLock { $0.end(at: now) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        if let active { settings.active?.end(active) }
        let request = result.request.storage
        // A loader below may have decided that the request must not be measured.
        guard request.options[MeasurementOption.self] == .always else { return }
        let end = settings.now
        if let board = settings.board {
            board.count(
                request, result, nanoseconds: nanoseconds(until: end), at: settings.boardHasSameClock ? end : nil)
        } else {
            let waiting = waits.withLock { $0.total(at: end) }
            settings.emit(result, nanoseconds: nanoseconds(until: end), waiting: waiting)
        }
    }

    private func nanoseconds(until end: TimerInstant) -> Int64 {
        let (passed, isOverflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        return isOverflow ? .max : max(0, passed)
    }
}
