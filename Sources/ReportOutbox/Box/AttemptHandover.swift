import LoaderChain

/// What a box and a terminal that goes on without this process tell each other about an attempt, beside its result.
///
/// The box sends it along with the request, as an option. A terminal that knows nothing of it does not touch it, and the attempt
/// is an ordinary one.
final class AttemptHandover: Sendable {
    private struct State {
        var isTaken = false
        var isKept = false
        var whenKept: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())
    private let onContinues: @Sendable () -> Void

    /// Makes one for an attempt, which hears when it turns out to be no new one.
    init(onContinues: @escaping @Sendable () -> Void) { self.onContinues = onContinues }

    // MARK: The terminal's side

    /// Says that the attempt goes on without this process: no deadline ends it, and a cancel only lets go of it.
    func take() { state.withLock { $0.isTaken = true } }

    /// Says that the attempt joins one that was begun before, by an earlier launch or by a box that was closed, and counts once.
    func continues() { onContinues() }

    /// Does something as soon as it is written down what the result means.
    func whenKept(_ action: @escaping @Sendable () -> Void) {
        let isKept = state.withLock { state in
            if !state.isKept { state.whenKept.append(action) }
            return state.isKept
        }
        if isKept { action() }
    }

    // MARK: The box's side

    /// Whether the attempt goes on without this process.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Says that it is written down what the result means.
    func confirmKept() {
        let actions = state.withLock { state in
            state.isKept = true
            return exchange(&state.whenKept, with: [])
        }
        for action in actions { action() }
    }
}

private enum AttemptHandoverOption: HTTPRequestOption {
    static var defaultOptionValue: AttemptHandover? { nil }
}

extension HTTPRequest {
    /// The handover of the attempt that this request is.
    var handover: AttemptHandover? {
        get { self[option: AttemptHandoverOption.self] }
        set { self[option: AttemptHandoverOption.self] = newValue }
    }
}
