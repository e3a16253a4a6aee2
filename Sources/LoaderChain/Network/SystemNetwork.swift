import LoaderChainPlatformC

#if canImport(Network)
    import Dispatch
    import Network
#endif

/// The network of this machine.
///
/// On Apple systems the path monitor decides, except on a watch, where it sees no network that a session uses: there, a network is
/// always available. On Linux there is a network if an interface other than the loopback is up and has an address, which is looked up
/// once a second at most; a router without a connection looks like a network.
public final class SystemNetwork: NetworkSource {
    /// The one of this process.
    public static let shared = SystemNetwork()

    private let source: any NetworkSource
    #if canImport(Network)
        private let monitor = NWPathMonitor()
    #endif

    private init() {
        #if canImport(Network)
            let network = NetworkListeners()
            source = network
            monitor.pathUpdateHandler = { path in network.note(path.status != .unsatisfied) }
            #if !os(watchOS)
                monitor.start(queue: DispatchQueue(label: "LoaderChain.network"))
            #endif
        #else
            source = InterfacePoll(timers: SystemTimers.shared) { Interfaces.leadOut }
        #endif
    }

    /// Whether there is a network at the moment; true until the system has said.
    public var isAvailable: Bool { source.isAvailable }

    /// Calls `onChange` with the new state after each change, until the returned watch is cancelled or released.
    public func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch { source.watch(onChange) }
}

#if !canImport(Network)
    /// The network interfaces of a machine that has no path monitor.
    enum Interfaces {
        /// Whether an interface that leads out of the machine is up and has an address; also if the system does not say.
        static var leadOut: Bool {
            var list: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&list) == 0 else { return true }
            defer { freeifaddrs(list) }
            var next = list
            while let interface = next?.pointee {
                if leadsOut(interface) { return true }
                next = interface.ifa_next
            }
            return false
        }

        /// Whether an interface is up and has an address that leads out of the machine.
        static func leadsOut(_ interface: ifaddrs) -> Bool {
            let flags = CInt(truncatingIfNeeded: interface.ifa_flags)
            let isUp =
                flags & CInt(truncatingIfNeeded: IFF_UP) != 0
                && flags & CInt(truncatingIfNeeded: IFF_RUNNING) != 0
            guard isUp, flags & CInt(truncatingIfNeeded: IFF_LOOPBACK) == 0,
                let address = interface.ifa_addr
            else { return false }
            switch CInt(address.pointee.sa_family) {
            case AF_INET: return true
            case AF_INET6:
                // Every interface that is up gives itself an address of its link, fe80::/10, which leads nowhere.
                return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin6_addr) { $0[0] != 0xFE || $0[1] & 0xC0 != 0x80 }
                }
            default: return false
            }
        }
    }
#endif

/// Looks at the interfaces of a machine, again and again while that is watched.
///
/// What it has seen counts for ``interval``, so that a request costs no call of the system.
final class InterfacePoll: NetworkSource {
    static let interval = Duration.seconds(1)

    private let timers: any Timers
    private let look: @Sendable () -> Bool
    private let state = Locked(State())

    private struct State {
        var network = NetworkState()
        var lookedAt: TimerInstant?
        var timer: (any ScheduledTimer)?
    }

    /// Makes a source that asks `look` whether there is a network.
    init(timers: any Timers, look: @escaping @Sendable () -> Bool) {
        self.timers = timers
        self.look = look
    }

    deinit { state.withLock { replace(&$0.timer, with: nil) }?.cancel() }

    var isAvailable: Bool {
        let now = timers.now
        let known: Bool? = state.withLock { state in
            guard let lookedAt = state.lookedAt, lookedAt.duration(to: now) < Self.interval else { return nil }
            return state.network.isAvailable
        }
        return known ?? lookAgain()
    }

    func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch {
        let (number, isFirst) = state.withLock { state in
            let isFirst = state.network.isUnwatched
            return (state.network.add(onChange), isFirst)
        }
        if isFirst { scheduleLook() }
        return NetworkWatch { [weak self] in self?.unwatch(number) }
    }

    private func unwatch(_ number: Int) {
        let (listener, timer) = state.withLock { state in
            let listener = state.network.remove(number)
            return (listener, state.network.isUnwatched ? replace(&state.timer, with: nil) : nil)
        }
        timer?.cancel()
        withExtendedLifetime(listener) {}
    }

    /// Looks, calls the listeners if the state has changed, and returns it.
    @discardableResult
    private func lookAgain() -> Bool {
        let isAvailable = look()
        let now = timers.now
        let listeners = state.withLock { state in
            state.lookedAt = now
            return state.network.note(isAvailable)
        }
        for listener in listeners { listener(isAvailable) }
        return isAvailable
    }

    private func scheduleLook() {
        let timer = timers.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            lookAgain()
            scheduleLook()
        }
        // Only the newest timer counts; there is none while nothing is watched.
        let unneeded: (any ScheduledTimer)? = state.withLock { state in
            if state.network.isUnwatched { return timer }
            return replace(&state.timer, with: timer)
        }
        unneeded?.cancel()
    }
}

/// A network whose state somebody else notes, and its listeners.
package final class NetworkListeners: NetworkSource {
    private let state: Locked<NetworkState>

    package init(isAvailable: Bool = true) { state = Locked(NetworkState(isAvailable: isAvailable)) }

    package var isAvailable: Bool { state.withLock { $0.isAvailable } }

    package var count: Int { state.withLock { $0.listeners.count } }

    package func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch {
        let number = state.withLock { $0.add(onChange) }
        return NetworkWatch { [weak self] in
            let listener = self?.state.withLock { $0.remove(number) }
            withExtendedLifetime(listener) {}
        }
    }

    /// Notes the state, and calls the listeners on this thread if it has changed.
    package func note(_ isAvailable: Bool) {
        for listener in state.withLock({ $0.note(isAvailable) }) { listener(isAvailable) }
    }
}

/// The state of a network, and its listeners: decisions, without a system.
private struct NetworkState: Sendable {
    typealias Listener = @Sendable (Bool) -> Void

    private(set) var isAvailable: Bool
    private(set) var listeners: [Int: Listener] = [:]
    private var lastNumber = 0

    /// There is a network until the system says otherwise, since then a request finds out.
    init(isAvailable: Bool = true) { self.isAvailable = isAvailable }

    var isUnwatched: Bool { listeners.isEmpty }

    /// Notes the state from the system, and returns the listeners to call, if it has changed.
    mutating func note(_ isAvailable: Bool) -> [Listener] {
        guard isAvailable != self.isAvailable else { return [] }
        self.isAvailable = isAvailable
        return listeners.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Adds a listener, and returns the number to remove it by.
    mutating func add(_ listener: @escaping Listener) -> Int {
        lastNumber += 1
        listeners[lastNumber] = listener
        return lastNumber
    }

    /// Removes a listener, which the caller releases outside of the lock.
    mutating func remove(_ number: Int) -> Listener? { listeners.removeValue(forKey: number) }
}
