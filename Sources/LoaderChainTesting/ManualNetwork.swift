import LoaderChain

/// A network that comes and goes when a test says so.
///
/// ```swift
/// let network = ManualNetwork(isAvailable: false)
/// let chain = WaitForNetwork(network: network) --> terminal
/// network.isAvailable = true
/// ```
public final class ManualNetwork: NetworkSource {
    private let state: Locked<State>

    private struct State {
        var isAvailable: Bool
        var listeners: [Int: @Sendable (Bool) -> Void] = [:]
        var lastNumber = 0
    }

    /// Makes a network.
    public init(isAvailable: Bool = true) { state = Locked(State(isAvailable: isAvailable)) }

    /// Whether there is a network; setting it calls the watchers, on this thread, if it is a change.
    public var isAvailable: Bool {
        get { state.withLock { $0.isAvailable } }
        set {
            let listeners = state.withLock { state in
                guard state.isAvailable != newValue else { return [] as [@Sendable (Bool) -> Void] }
                state.isAvailable = newValue
                return state.listeners.sorted { $0.key < $1.key }.map(\.value)
            }
            for listener in listeners { listener(newValue) }
        }
    }

    /// How many watches there are.
    public var watches: Int { state.withLock { $0.listeners.count } }

    /// Calls `onChange` after each change, until the returned watch is cancelled or released.
    public func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.listeners[state.lastNumber] = onChange
            return state.lastNumber
        }
        return NetworkWatch { [weak self] in
            let listener = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            withExtendedLifetime(listener) {}
        }
    }
}
