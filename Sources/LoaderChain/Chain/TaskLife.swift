/// What a task's life consists of, decided without threads, clocks or callbacks.
///
/// The states:
/// - **open**: whoever was handed the task has it. A completion finishes it, a cancel asks for its end.
/// - **cancelling**: a cancel came first. Whoever has the task stops and completes it; whatever they complete it with,
///   its result says that it was cancelled.
/// - **finished**: it has its one result. Nothing changes any more, and late handlers are answered at once.
/// - **finishedAfterCancel**: the same, where the cancel had come first, so that late cancel handlers are answered too.
///
/// Every method changes the state and returns what there is to do. The owner does that after it has unlocked.
struct TaskLife<Handler: TaskHandling, Outcome> {
    /// Where the life has got to.
    enum Phase { case open, cancelling, finished, finishedAfterCancel }

    private(set) var phase = Phase.open
    private(set) var outcome: Outcome?
    private var handlers = HandlerStack<Handler>()

    /// What becomes of a handler that is being registered.
    enum Registration {
        /// It is kept for later.
        case kept
        /// It is kept for the completion, but has a cancel to hear of now.
        case keptHearingCancel
        /// It is not kept, and has a cancel to hear of now.
        case hearsCancel
        /// It is not kept, and has the outcome to hear of now.
        case hearsOutcome(Outcome)
        /// It waited for a cancel that can no longer come.
        case tooLate
    }

    /// Registers `handler`.
    @inline(__always)
    mutating func register(_ handler: Handler) -> Registration {
        switch phase {
        case .open:
            handlers.push(handler)
            return .kept
        case .cancelling:
            guard handler.hearsCompletion else { return .hearsCancel }
            handlers.push(handler)
            return handler.hearsCancel ? .keptHearingCancel : .kept
        case .finished, .finishedAfterCancel:
            if handler.hearsCompletion, let outcome { return .hearsOutcome(outcome) }
            return phase == .finishedAfterCancel ? .hearsCancel : .tooLate
        }
    }

    /// Asks for the end, and returns who is to hear of it, last registered first; nil if that changes nothing.
    mutating func cancel() -> [Handler]? {
        guard phase == .open else { return nil }
        phase = .cancelling
        let all = handlers.inOrder
        handlers = HandlerStack()
        for handler in all where handler.hearsCompletion { handlers.push(handler) }
        return all.reversed().filter(\.hearsCancel)
    }

    /// What becomes of a completion.
    enum Finish {
        /// It won: these hear of it, in the order in which they are popped.
        case won(HandlerStack<Handler>)
        /// A cancel came first: the outcome must say so. Ask again with one that does.
        case mustSayCancelled
        /// Another completion came first.
        case lost
    }

    /// Finishes the life with `outcome`, where `saysCancelled` tells whether that outcome is a cancel's.
    @inline(__always)
    mutating func finish(_ outcome: Outcome, saysCancelled: Bool) -> Finish {
        switch phase {
        case .cancelling where !saysCancelled:
            return .mustSayCancelled
        case .open, .cancelling:
            phase = phase == .open ? .finished : .finishedAfterCancel
            self.outcome = outcome
            let heard = handlers
            handlers = HandlerStack()
            return .won(heard)
        case .finished, .finishedAfterCancel:
            return .lost
        }
    }

    /// Whether a drop of the last reference would leave somebody waiting.
    var isAwaited: Bool { (phase == .open || phase == .cancelling) && !handlers.isEmpty }
}

/// What a life must know of a handler: what it wants to hear of.
protocol TaskHandling {
    var hearsCompletion: Bool { get }
    var hearsCancel: Bool { get }
}
