extension MetricsTap {
    /// What a tap says about all its tasks, and whom it tells.
    ///
    /// It is all of a tap that a task keeps, and it leads to no loader.
    final class Settings: Sendable {
        let recorder: MetricRecorder
        let module: String?
        let tags: [String: String]
        let isListening: Bool
        /// The only sink, if it is a board and nothing is filtered: then no metric of each request is needed.
        let board: MetricBoard?
        let boardHasSameClock: Bool
        private let measuresAll: Bool
        private let clock: TimerClock

        init(recorder: MetricRecorder, module: String?, tags: [String: String]) {
            self.recorder = recorder
            self.module = module
            self.tags = tags
            clock = TimerClock(recorder.timers)
            board = recorder.onlyBoard
            isListening = recorder.isListening
            measuresAll = recorder.samplingRate >= 1
            boardHasSameClock = board?.clock.isSame(as: clock) ?? false
        }

        /// Whether the task that comes now is among those that are measured.
        func drawSample() -> Bool { measuresAll || recorder.drawSample() }

        var now: TimerInstant { clock.now }

        /// Tells of a request that has ended now.
        func emit(_ result: HTTPResult, nanoseconds: Int64, waiting: Duration) {
            recorder.emit(
                .request(HTTPMetric(of: result, duration: .nanoseconds(nanoseconds), waiting: waiting, by: self)))
        }
    }
}
