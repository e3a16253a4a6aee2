extension MetricsTap {
    /// What a tap says about all its tasks, and whom it tells.
    ///
    /// It is all of a tap that a task keeps, and it leads to no loader.
    final class Settings: Sendable {
        let recorder: MetricRecorder
        let module: String?
        let tags: [String: String]
        /// Whether the only sink is a board and nobody filters: then nobody needs a metric of each request.
        let hasOnlyBoard: Bool
        let isListening: Bool
        private let measuresAll: Bool
        /// The recorder's, reached without counting a reference.
        private let board: Unmanaged<MetricBoard>?
        private let boardHasSameClock: Bool
        private let clock: MetricClock
        private let isSystemClock: Bool

        init(recorder: MetricRecorder, module: String?, tags: [String: String]) {
            self.recorder = recorder
            self.module = module
            self.tags = tags
            clock = MetricClock(recorder.timers)
            board = recorder.onlyBoard.map(Unmanaged.passUnretained)
            isListening = recorder.isListening
            measuresAll = recorder.samplingRate >= 1
            hasOnlyBoard = board != nil
            isSystemClock = clock.isSystem
            boardHasSameClock = recorder.onlyBoard?.clock.isSame(as: clock) ?? false
        }

        /// Whether the task that comes now is among those that are measured.
        @inline(__always)
        func chooses() -> Bool { measuresAll || recorder.chooses() }

        @inline(__always)
        var now: TimerInstant { isSystemClock ? .uptime : otherNow }

        // Out of line, so that the usual way counts no references for it.
        @inline(never)
        private var otherNow: TimerInstant { clock.now }

        /// Counts a request that ended at `end` on the board, as its metric would be.
        @inline(__always)
        func count(_ request: HTTPRequest.Storage, _ result: HTTPResult, nanoseconds: Int64, at end: TimerInstant) {
            board?._withUnsafeGuaranteedRef {
                $0.count(request, result, nanoseconds: nanoseconds, at: boardHasSameClock ? end : nil)
            }
        }

        /// Tells of a request that has ended now.
        func emit(_ result: HTTPResult, nanoseconds: Int64, waiting: Duration) {
            recorder.emit(
                .request(HTTPMetric(of: result, duration: .nanoseconds(nanoseconds), waiting: waiting, by: self)))
        }
    }
}
