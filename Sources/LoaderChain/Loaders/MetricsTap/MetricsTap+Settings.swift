extension MetricsTap {
    /// The tap's recorder, and what it adds to the metrics of all tasks.
    ///
    /// This is the only part of a tap that a task keeps, and it has no reference to a loader.
    final class Settings: Sendable {
        let recorder: MetricRecorder
        let module: String?
        let tags: [String: String]
        let recordsPhases: Bool
        let isListening: Bool
        /// The requests under way, if they are counted.
        let active: ActiveRequests?
        /// The only sink, if it is a board and there is no filter: then requests need no metric.
        let board: MetricBoard?
        let boardHasSameClock: Bool
        private let measuresAll: Bool
        private let clock: TimerClock

        init(
            recorder: MetricRecorder, module: String?, tags: [String: String], recordsPhases: Bool, countsActive: Bool
        ) {
            active = countsActive ? ActiveRequests() : nil
            self.recorder = recorder
            self.module = module
            self.tags = tags
            self.recordsPhases = recordsPhases
            clock = TimerClock(recorder.timers)
            board = recorder.onlyBoard
            isListening = recorder.isListening
            measuresAll = recorder.samplingRate >= 1
            boardHasSameClock = board?.clock.isSame(as: clock) ?? false
        }

        /// Draws whether a task that comes now is measured.
        func drawSample() -> Bool { measuresAll || recorder.drawSample() }

        var now: TimerInstant { clock.now }

        /// Emits the metric of a request that has ended now.
        func emit(_ result: HTTPResult, nanoseconds: Int64, waiting: Duration) {
            recorder.emit(
                .request(HTTPMetric(of: result, duration: .nanoseconds(nanoseconds), waiting: waiting, by: self)))
        }
    }
}
