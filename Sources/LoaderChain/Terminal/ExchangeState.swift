/// The state machine of an exchange: a pure value, without threads or callbacks.
///
/// It decides how far the exchange has got, which caller may end it, and when the transfer may be cancelled. Each
/// redirect that an exchange follows is a new transfer.
package struct ExchangeState<AnyTransfer> {
    package enum Phase {
        /// No transfer is under way: the body is being prepared, or the next step after a redirect is being chosen.
        case between
        /// A transfer is under way, and will report its end.
        case loading(AnyTransfer)
        case ended
    }

    package private(set) var phase = Phase.between
    package private(set) var stopReason: StopReason?
    /// Whether the transport is being answered; a session traps if its task is cancelled before the answer.
    private var isAnswering = false
    /// The body that is read as it arrives, which learns how the exchange ended, because the task is complete by then.
    package private(set) var pipe: ChunkPipe?

    package init() {}

    package var isStopped: Bool { stopReason != nil }
    package var isOver: Bool { isStopped || isEnded }

    // MARK: The transfer

    /// Notes a new transfer, and returns whether to start it; it is to be cancelled if the exchange is over.
    package mutating func begin(_ transfer: AnyTransfer) -> Bool {
        guard stopReason == nil, case .between = phase else { return false }
        phase = .loading(transfer)
        return true
    }

    package enum Ending {
        /// The exchange has ended already.
        case irrelevant
        case stopped(StopReason)
        /// The exchange ends as the transfer says.
        case asItCame
    }

    package mutating func transferEnded() -> Ending {
        guard case .loading = phase else { return .irrelevant }
        phase = .between
        // From here on, a stopped exchange is ended by this caller alone.
        return stopReason.map { .stopped($0) } ?? .asItCame
    }

    // MARK: Stopping

    /// What the caller that stops the exchange has to do.
    package enum Stop {
        /// The exchange has ended, or is being stopped, or ``endAnswer()`` will return the transfer to cancel.
        case nothing
        case cancel(AnyTransfer)
        /// There is no transfer that could end, so the caller ends the exchange.
        case end
    }

    package mutating func stop(_ reason: StopReason) -> Stop {
        guard stopReason == nil else { return .nothing }
        switch phase {
        case .ended:
            return .nothing
        case .between:
            stopReason = reason
            return .end
        case .loading(let transfer):
            stopReason = reason
            return isAnswering ? .nothing : .cancel(transfer)
        }
    }

    /// The reason of an exchange that was stopped, and whose transfer has not ended; nil for any other.
    package func abandon() -> StopReason? {
        if case .loading = phase { stopReason } else { nil }
    }

    /// Whether the transport may be answered; it may not once the transfer has been cancelled.
    package mutating func beginAnswer() -> Bool {
        guard stopReason == nil, case .loading = phase else { return false }
        isAnswering = true
        return true
    }

    /// Notes that the transport was answered; returns the transfer if a stop came meanwhile, to be cancelled now.
    package mutating func endAnswer() -> AnyTransfer? {
        isAnswering = false
        guard stopReason != nil, case .loading(let transfer) = phase else { return nil }
        return transfer
    }

    // MARK: The end

    /// Notes the body that is read as it arrives; false if the exchange is over, and its task fails without a body.
    package mutating func attach(_ pipe: ChunkPipe) -> Bool {
        if isOver { return false }
        self.pipe = pipe
        return true
    }

    /// The right to end the exchange, with the body whose reader must be notified.
    package struct End {
        package let pipe: ChunkPipe?
    }

    /// Ends the exchange; nil for every caller but the first.
    package mutating func end() -> End? {
        guard !isEnded else { return nil }
        phase = .ended
        return End(pipe: replace(&pipe, with: nil))
    }

    private var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }
}

/// Why an exchange was stopped on this side.
package enum StopReason: Sendable {
    case cancelled
    /// Nothing was sent or received for too long.
    case timedOut(Duration)
    /// The whole took longer than the configuration allows.
    case tookTooLong(Duration)
    /// The body could not be stored.
    case refused(SinkError)
    /// The connection broke, and the session cannot send the body again.
    case bodyNeededAgain
    case readerLeft
    /// Another head arrived after the first had been delivered.
    case secondHead

    /// The kind of error that the task ends with, and why.
    package func explanation(nameOfResourceTimeout: String) -> (code: HTTPError.Code, reason: String?) {
        switch self {
        case .cancelled, .readerLeft:
            (.cancelled, nil)
        case .timedOut(let time):
            (.timedOut, "Nothing was sent or received in time; the request ended after \(time)")
        case .tookTooLong(let time):
            (
                .timedOut,
                "The request took longer than the configuration allows in all, and ended after \(time); "
                    + "raise \(nameOfResourceTimeout)"
            )
        case .bodyNeededAgain:
            (.connectionLost, "The connection closed, and the session cannot send the body again")
        case .secondHead:
            (
                .invalidResponse,
                "Another response followed the one that was delivered; a proxy may have answered CONNECT with a body's type"
            )
        case .refused(.tooLarge(let announced, let limit)):
            (
                .responseTooLarge,
                "The body has \(announced.map { "\($0)" } ?? "more") bytes, and the limit is \(limit); raise the limit, "
                    + "or have the body delivered in a file or in chunks"
            )
        case .refused(.storage(let reason)):
            (.cannotStoreResponse, reason)
        }
    }
}

extension HTTPError {
    init(
        _ stop: StopReason, of request: HTTPRequest, response: HTTPResponse?, nameOfResourceTimeout: String,
        loader: String
    ) {
        let (code, reason) = stop.explanation(nameOfResourceTimeout: nameOfResourceTimeout)
        self.init(code, request: request, response: response, reason: reason, loader: loader)
    }
}
