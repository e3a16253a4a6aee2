import LoaderChain

/// A network that comes and goes when a test says so.
///
/// ```swift
/// let network = ManualNetwork(isAvailable: false)
/// let chain = WaitForNetwork(network: network) --> terminal
/// network.isAvailable = true
/// ```
public final class ManualNetwork: NetworkSource {
    private let network: NetworkListeners

    /// Makes a network.
    public init(isAvailable: Bool = true) { network = NetworkListeners(isAvailable: isAvailable) }

    /// Whether there is a network; setting it calls the watchers, on this thread, if it is a change.
    public var isAvailable: Bool {
        get { network.isAvailable }
        set { network.note(newValue) }
    }

    /// How many watches there are.
    public var watches: Int { network.count }

    /// Calls `onChange` after each change, until the returned watch is cancelled or released.
    public func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch { network.watch(onChange) }
}
