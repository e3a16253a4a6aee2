/// One task on its way below a tap: the one allocation that measuring costs.
///
/// It hears of the task's waits and of its end. The task keeps it until then; it keeps neither the task nor the tap.
final class TaskMeasurement: WaitMeter, @unchecked Sendable {
    /// Held, but reached without counting a reference.
    private let settings: Unmanaged<MetricsTap.Settings>
    private let start: TimerInstant
    private let waits = InPlaceLocked(WaitClock())

    init(by settings: MetricsTap.Settings) {
        self.settings = .passRetained(settings)
        start = settings.now
    }

    deinit { settings.release() }

    func waitBegins() { changeWaits { $0.begin(at: $1) } }

    func waitEnded() { changeWaits { $0.end(at: $1) } }

    private func changeWaits(_ change: (inout WaitClock, TimerInstant) -> Void) {
        let now = settings._withUnsafeGuaranteedRef { $0.now }
        waits.withLock { change(&$0, now) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        settings._withUnsafeGuaranteedRef { settings in
            // The result holds its request for as long as this takes, so nobody counts a reference to it.
            Unmanaged.passUnretained(result.request.storage)._withUnsafeGuaranteedRef { request in
                // A loader below may have found that it is none of anybody's business.
                guard request.options[MeasurementOption.self] == .always else { return }
                let end = settings.now
                if settings.hasOnlyBoard {
                    settings.count(request, result, nanoseconds: nanoseconds(until: end), at: end)
                } else {
                    emit(result, endingAt: end, by: settings)
                }
            }
        }
    }

    @inline(never)
    private func emit(_ result: HTTPResult, endingAt end: TimerInstant, by settings: MetricsTap.Settings) {
        let waiting = waits.withLock { $0.total(at: end) }
        settings.emit(result, nanoseconds: nanoseconds(until: end), waiting: waiting)
    }

    @inline(__always)
    private func nanoseconds(until end: TimerInstant) -> Int64 {
        let (passed, isOverflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        return isOverflow ? .max : max(0, passed)
    }
}
