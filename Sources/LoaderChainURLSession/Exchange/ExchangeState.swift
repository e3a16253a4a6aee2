import LoaderChain

/// How far one exchange has got, who may end it, and when its transfer may be cancelled; decided without threads.
///
/// An exchange is one loading of a request, and each redirect that it follows is a transfer of its own.
struct ExchangeState<Transfer> {
    enum Phase {
        /// There is no transfer: the body is being made ready, or it is being decided what a redirect leads to.
        case between
        /// The session has a transfer, and will say that it ended.
        case transferring(Transfer)
        /// The exchange has its result.
        case ended
    }

    private(set) var phase = Phase.between
    private(set) var stopReason: StopReason?
    /// The session is being answered, and traps if it finds the transfer cancelled before the answer.
    private var isAnswering = false
    /// Where the end is told if the task is complete already, because the body is read as it arrives.
    var pipe: ChunkPipe?

    var isStopped: Bool { stopReason != nil }

    // MARK: Transfers

    /// Whether a new transfer is to be started, or to be cancelled because nobody wants it any more.
    enum Beginning { case resume, cancel }

    mutating func begin(_ transfer: Transfer) -> Beginning {
        guard case .between = phase else { return .cancel }
        phase = .transferring(transfer)
        return .resume
    }

    /// What the end of a transfer means.
    enum Ending {
        /// The exchange is over already.
        case irrelevant
        case stopped(StopReason)
        case asItCame
    }

    mutating func transferEnded() -> Ending {
        guard case .transferring = phase else { return .irrelevant }
        phase = .between
        // From here on nobody else ends a stopped exchange.
        return stopReason.map { .stopped($0) } ?? .asItCame
    }

    // MARK: Stopping

    /// What whoever stops the exchange has to do.
    enum Stop {
        /// It is over, or being stopped, or the one who answers the session will cancel.
        case nothing
        case cancel(Transfer)
        /// No transfer will end, so it is for the caller to end the exchange.
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
        case .transferring(let transfer):
            stopReason = reason
            return isAnswering ? .nothing : .cancel(transfer)
        }
    }

    /// Whether the session may be answered: not once its transfer has been cancelled.
    mutating func beginAnswer() -> Bool {
        guard stopReason == nil, case .transferring = phase else { return false }
        isAnswering = true
        return true
    }

    /// Notes that the session was answered, and returns the transfer if it was to be cancelled meanwhile.
    mutating func endAnswer() -> Transfer? {
        isAnswering = false
        guard stopReason != nil, case .transferring(let transfer) = phase else { return nil }
        return transfer
    }

    // MARK: The end

    /// The right to end the exchange, and who is to be told beside the task.
    struct End {
        let pipe: ChunkPipe?
    }

    /// Ends the exchange, for the first who asks.
    mutating func end() -> End? {
        guard !isEnded else { return nil }
        phase = .ended
        return End(pipe: exchange(&pipe, with: nil))
    }

    private var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }
}

/// Why an exchange was ended from this side.
enum StopReason: Sendable {
    case cancelled
    case timedOut(Duration)
    /// What arrived could not be taken.
    case refused(SinkError)
    /// The connection broke, and the body would have to be sent again, which the session cannot.
    case bodyNeededAgain
    /// Nobody reads what arrives.
    case readerLeft
}
