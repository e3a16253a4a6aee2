import LoaderChain

/// Carries messages about an attempt between a box and a terminal that goes on without this process.
///
/// The box sends it along with the request, as an option. A terminal that knows nothing of it does not touch it, and the attempt
/// is an ordinary one.
final class AttemptHandover: Sendable {
    private struct State {
        var isTaken = false
        var isKept = false
        var whenKept: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())
    private let onTake: @Sendable () -> Void
    private let onContinues: @Sendable () -> Void

    /// Makes the handover of an attempt.
    ///
    /// - Parameters:
    ///   - onTake: runs if the attempt goes on without this process.
    ///   - onContinues: runs if the attempt joins an earlier one.
    init(onTake: @escaping @Sendable () -> Void = {}, onContinues: @escaping @Sendable () -> Void) {
        self.onTake = onTake
        self.onContinues = onContinues
    }

    // MARK: The terminal's side

    /// Says that the attempt goes on without this process: no deadline ends it, and a cancel only detaches from it.
    func take() {
        if !state.withLock({ replace(&$0.isTaken, with: true) }) { onTake() }
    }

    /// Says that the attempt joins one that was begun before, by an earlier launch or by a box that was closed, and counts once.
    func continues() { onContinues() }

    /// Runs an action as soon as the outcome of the attempt is on the disk.
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

    /// Says that the outcome of the attempt is on the disk.
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
    /// The handover of the attempt that this request is.
    var handover: AttemptHandover? {
        get { self[option: AttemptHandoverOption.self] }
        set { self[option: AttemptHandoverOption.self] = newValue }
    }
}
