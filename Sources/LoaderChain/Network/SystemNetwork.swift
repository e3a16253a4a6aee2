/// The network of this machine.
///
/// On Apple systems it is what the path monitor says. On Linux there is a network if an interface other than the loopback is up and
/// has an address, which is looked up once a second at most; a router that leads nowhere looks like a network.
public final class SystemNetwork: NetworkSource {
    /// The one of this process.
    public static let shared = SystemNetwork()

    private let source: any NetworkSource

    private init() {
        #if canImport(Network)
            source = PathMonitor()
        #else
            source = InterfacePoll(timers: SystemTimers.shared) { Interfaces.leadOut }
        #endif
    }

    /// Whether there is a network at the moment; true as long as the system has not said.
    public var isAvailable: Bool { source.isAvailable }

    /// Calls `onChange` with the new state after each change, until the returned watch is cancelled or released.
    public func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch { source.watch(onChange) }
}
