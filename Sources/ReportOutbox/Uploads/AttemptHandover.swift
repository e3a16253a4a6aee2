import LoaderChain

/// Connects an outbox with a terminal whose upload continues without this process, for one attempt.
///
/// The outbox adds it to the request as an option. A terminal that does not know the option ignores it, and the attempt is an
/// ordinary one.
final class AttemptHandover: Sendable {
    private struct State {
        var isTaken = false
        var isKept = false
        var whenKept: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())
    private let onTake: @Sendable () -> Void
    private let onContinues: @Sendable () -> Void

    /// Creates a handover; `onTake` is called if the attempt continues without this process, and `onContinues` if it joins an earlier one.
    init(onTake: @escaping @Sendable () -> Void = {}, onContinues: @escaping @Sendable () -> Void) {
        self.onTake = onTake
        self.onContinues = onContinues
    }

    // MARK: The terminal's side

    /// Declares that the attempt continues without this process: it has no timeout, and cancelling only detaches from it.
    func take() {
        if !state.withLock({ replace(&$0.isTaken, with: true) }) { onTake() }
    }

    /// Declares that the attempt joins one of an earlier launch or of a closed outbox; the two count once.
    func continues() { onContinues() }

    /// Runs an action once the outcome of the attempt is on disk.
    func whenKept(_ action: @escaping @Sendable () -> Void) {
        let isKept = state.withLock { state in
            if !state.isKept { state.whenKept.append(action) }
            return state.isKept
        }
        if isKept { action() }
    }

    // MARK: The outbox's side

    /// Whether the attempt continues without this process.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Declares that the outcome of the attempt is on disk.
    func confirmKept() {
        let actions = state.withLock { state in
            state.isKept = true
            return replace(&state.whenKept, with: [])
        }
        for action in actions { action() }
    }
}

private enum AttemptHandoverOption: HTTPRequestOption {
    static var defaultOptionValue: AttemptHandover? { nil }
}

extension HTTPRequest {
    var handover: AttemptHandover? {
        get { self[option: AttemptHandoverOption.self] }
        set { self[option: AttemptHandoverOption.self] = newValue }
    }
}
