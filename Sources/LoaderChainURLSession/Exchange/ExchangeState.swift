import LoaderChain

/// The state machine of an exchange: a pure value, without threads or callbacks.
///
/// It decides how far the exchange has got, which caller may end it, and when the session's task may be cancelled. Each
/// redirect that an exchange follows is a new task of the session.
struct ExchangeState<SessionTask> {
    enum Phase {
        /// The session has no task: the body is being prepared, or the next step after a redirect is being chosen.
        case between
        /// The session has a task, and will report its end.
        case loading(SessionTask)
        /// The exchange has its result.
        case ended
    }

    private(set) var phase = Phase.between
    private(set) var stopReason: StopReason?
    /// Whether the session is being answered; it traps if its task is cancelled before the answer.
    private var isAnswering = false
    /// The body that is read as it arrives, which is told how it ended: the task is complete by then.
    var pipe: ChunkPipe?

    var isStopped: Bool { stopReason != nil }

    // MARK: The session's task

    /// What to do with a new task of the session: start it, or cancel it because the exchange is over.
    enum Beginning { case resume, cancel }

    mutating func begin(_ sessionTask: SessionTask) -> Beginning {
        guard case .between = phase else { return .cancel }
        phase = .loading(sessionTask)
        return .resume
    }

    /// What the end of the session's task means.
    enum Ending {
        /// The exchange has ended already.
        case irrelevant
        /// The exchange was stopped, and fails for this reason.
        case stopped(StopReason)
        /// The exchange ends as the session says.
        case asItCame
    }

    mutating func sessionTaskEnded() -> Ending {
        guard case .loading = phase else { return .irrelevant }
        phase = .between
        // From here on, a stopped exchange is ended by this caller alone.
        return stopReason.map { .stopped($0) } ?? .asItCame
    }

    // MARK: Stopping

    /// What the caller that stops the exchange has to do.
    enum Stop {
        /// The exchange has ended, or is being stopped, or ``endAnswer()`` will return the task to cancel.
        case nothing
        case cancel(SessionTask)
        /// The session has no task that could end, so the caller ends the exchange.
        case end
    }

    mutating func stop(_ reason: StopReason) -> Stop {
        guard stopReason == nil else { return .nothing }
        switch phase {
        case .ended:
            return .nothing
        case .between:
            stopReason = reason
            return .end
        case .loading(let sessionTask):
            stopReason = reason
            return isAnswering ? .nothing : .cancel(sessionTask)
        }
    }

    /// Whether the session may be answered; it may not once its task has been cancelled.
    mutating func beginAnswer() -> Bool {
        guard stopReason == nil, case .loading = phase else { return false }
        isAnswering = true
        return true
    }

    /// Notes that the session was answered; returns the task if a stop came meanwhile, to be cancelled now.
    mutating func endAnswer() -> SessionTask? {
        isAnswering = false
        guard stopReason != nil, case .loading(let sessionTask) = phase else { return nil }
        return sessionTask
    }

    // MARK: The end

    /// The right to end the exchange, with the body whose reader has to be told.
    struct End {
        let pipe: ChunkPipe?
    }

    /// Ends the exchange; nil for every caller but the first.
    mutating func end() -> End? {
        guard !isEnded else { return nil }
        phase = .ended
        return End(pipe: replace(&pipe, with: nil))
    }

    private var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }
}

/// Why an exchange was stopped on this side.
enum StopReason: Sendable {
    case cancelled
    case timedOut(Duration)
    /// The body could not be stored.
    case refused(SinkError)
    /// The connection broke, and the session cannot send the body again.
    case bodyNeededAgain
    /// The reader of the chunks is gone.
    case readerLeft
}
