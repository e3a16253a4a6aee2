import Dispatch
import Synchronization

/// Loads the requests that have a connection, each with an exchange over a transport.
package final class ExchangeTerminal: HTTPLoader, @unchecked Sendable {
    private let owner: ExchangeOwner
    private let publicName: String

    private init(_ name: String, _ owner: ExchangeOwner) {
        publicName = name
        self.owner = owner
    }

    /// The queue of requests that wait for a connection, with a terminal behind it.
    ///
    /// `name` is that of the public loader, and `requestsPerHost`, at least 1, the maximum number of requests in flight to one host.
    package static func entrance(_ name: String, to owner: ExchangeOwner, _ requestsPerHost: Int) -> Throttle {
        let entrance = Throttle(perHost: UInt(max(1, requestsPerHost)), timers: owner.timers)
        entrance.nextLoader = ExchangeTerminal(name, owner)
        return entrance
    }

    /// Errors contain the name of the public loader.
    package override var name: String { publicName }
    package override var isTerminal: Bool { true }

    package override func load(task: HTTPTask) {
        let exchange = Exchange(task, by: name, on: owner)
        guard owner.admit(exchange) else {
            fail(
                task, .resetInProgress,
                reason: "The loader is being reset; load the request again after the reset")
            return
        }
        task.addObserver(exchange)
        exchange.start()
    }

    package override func reset(with group: DispatchGroup) {
        owner.cancelAll(in: group)
        super.reset(with: group)
    }

    package override func resetTimedOut(with group: DispatchGroup) {
        owner.giveUp(group)
        super.resetTimedOut(with: group)
    }
}

/// The exchanges in flight over a transport.
///
/// Exchanges retain their owner, and the owner retains them while they are in flight. So the owner outlives its loader until
/// the last of them has ended, including redirects.
package final class ExchangeOwner: Sendable {
    /// What all exchanges of a loader have in common.
    package struct Settings: Sendable {
        /// Header fields for every request, which must not follow a redirect to another host.
        package var headers: HTTPHeaders
        /// The maximum idle time of an exchange.
        package var timeout: Duration
        /// The maximum total time of an exchange.
        package var resourceTimeout: Duration
        /// The name by which users know the setting of the maximum total time.
        package var nameOfResourceTimeout: String
        package var responseSizeLimit: Int

        package init(
            headers: HTTPHeaders, timeout: Duration, resourceTimeout: Duration, nameOfResourceTimeout: String,
            responseSizeLimit: Int
        ) {
            self.headers = headers
            self.timeout = timeout
            self.resourceTimeout = resourceTimeout
            self.nameOfResourceTimeout = nameOfResourceTimeout
            self.responseSizeLimit = max(0, responseSizeLimit)
        }
    }

    package let settings: Settings
    package let transport: any Transport
    package let timers: any Timers
    private let inFlight = Locked(InFlightState<Exchange, DispatchGroup>())
    private let numbers = Atomic<UInt64>(0)
    private let deadlines: DeadlineWatch

    package init(_ settings: Settings, over transport: any Transport, timers: any Timers) {
        self.settings = settings
        self.transport = transport
        self.timers = timers
        deadlines = DeadlineWatch(timers) { [inFlight] now in
            inFlight.withLock { $0.all }.compactMap { $0.deadline(after: now) }.min()
        }
    }

    /// The details of the public loader: the exchanges in flight, and the requests that wait in its entrance.
    package func details(waiting: Int) -> String {
        "in flight \(inFlight.withLock { $0.count })" + (waiting == 0 ? "" : ", waiting \(waiting)")
    }

    func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Registers an exchange until its end; returns false if a reset is waiting for other exchanges.
    func admit(_ exchange: Exchange) -> Bool {
        inFlight.withLock { $0.admit(exchange, number: exchange.number) }
    }

    func watch(_ deadline: TimerInstant) { deadlines.note(deadline) }

    func ended(_ exchange: Exchange) {
        leave(inFlight.withLock { $0.end(exchange.number) })
    }

    /// Cancels all exchanges, and leaves `group` when the last of them has ended.
    func cancelAll(in group: DispatchGroup) {
        group.enter()
        guard let waitedFor = inFlight.withLock({ $0.begin(group) }) else { return leave([group]) }
        for exchange in waitedFor { exchange.stop(.cancelled) }
    }

    private func leave(_ groups: [DispatchGroup]) {
        guard !groups.isEmpty else { return }
        transport.forget()
        for group in groups { group.leave() }
    }

    /// Leaves `group` although exchanges have not ended, and admits new exchanges again.
    func giveUp(_ group: DispatchGroup) {
        leave(inFlight.withLock { $0.giveUp { $0 === group } })
    }
}
