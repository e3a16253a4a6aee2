import Dispatch
import Synchronization

/// Lets requests wait while there is no network, instead of failing.
///
/// ```swift
/// let chain = WaitForNetwork(upTo: .seconds(30)) --> Retry(strategy) --> terminal
/// ```
///
/// **What it does.** With a network, it passes every request on at once. Without one, requests wait, and are passed on in their
/// order when it is back, after a random delay of up to half a second, so that the devices of a building do not return in the same
/// instant. A request that has waited for too long, or that meets a full queue, fails with
/// ``HTTPError/Code/cannotConnect``. A cancelled request leaves at once, a ``HTTPRequest/deadline`` ends the wait like any
/// other, and a reset completes all that wait as ``HTTPError/Code/resetInProgress``.
///
/// **What it does not do.** A network does not mean that a server can be reached. A request that was sent, and then lost its
/// connection, is for a ``Retry`` to send again.
///
/// **Where it belongs.** Above ``Throttle``, so that waiting requests take no slot there. Below ``Retry``, an attempt that follows
/// the loss of the network waits until it is back, instead of failing; above it, only new requests wait. Requests to this machine
/// itself, such as `localhost`, need no network and pass.
///
/// ```swift
/// let chain = Retry() --> WaitForNetwork(upTo: .seconds(30)) --> terminal  // A lost connection is tried again with a network.
/// ```
public final class WaitForNetwork: HTTPLoader, @unchecked Sendable {
    private let limit: Duration?
    private let restartSpread: Duration
    private let random: RandomSource
    private let restart = Alarm()
    private let network: any NetworkSource
    private let timers: any Timers
    private let state: Locked<NetworkWaits>

    /// Makes the loader.
    ///
    /// - Parameters:
    ///   - limit: the longest time that a request waits; a minute by default, and nil for unlimited.
    ///   - maximumWaiting: the number of requests that may wait.
    ///   - restartSpread: the longest delay from the return of the network until the requests are passed on; half a second by default.
    ///   - network: the source of the network's state.
    ///   - timers: measures the waits.
    ///   - random: chooses the delay; give a seeded source in tests.
    public init(
        upTo limit: Duration? = .seconds(60), maximumWaiting: Int = 1_000,
        restartSpread: Duration = .milliseconds(500), network: any NetworkSource = SystemNetwork.shared,
        timers: any Timers = SystemTimers.shared, random: RandomSource = .system
    ) {
        self.limit = limit
        self.restartSpread = max(.zero, restartSpread)
        self.random = random
        self.network = network
        self.timers = timers
        state = Locked(NetworkWaits(most: maximumWaiting))
    }

    /// How many requests wait.
    public var waiting: Int { state.withLock { $0.count } }

    public override func load(task: HTTPTask) {
        if network.isAvailable || task.request.isForThisMachine { return super.load(task: task) }
        let waiter = NetworkWaiter(task, of: self)
        guard let (place, newRound) = state.withLock({ $0.admit(waiter) }) else {
            waiter.end()
            return _ = fail(
                task, .cannotConnect, reason: "There is no network, and the queue of waiting requests is full")
        }
        waiter.place = place
        task.addObserver(waiter)
        if let limit {
            let due = timers.now.advanced(by: limit)
            waiter.alarm.set(on: timers, for: { waiter.hasEnded ? nil : due }) { [weak self] in
                self?.giveUp(waiter, after: limit)
            }
        }
        if let newRound { watch(in: newRound) }
        // The network may have come between the first look and the watch.
        if network.isAvailable { networkReturned() }
    }

    private func giveUp(_ waiter: NetworkWaiter, after limit: Duration) {
        guard remove(waiter), let task = waiter.end() else { return }
        fail(task, .cannotConnect, reason: "There was no network for \(limit)")
    }

    private func watch(in round: Int) {
        let watch = network.watch { [weak self] isAvailable in if isAvailable { self?.networkReturned() } }
        state.withLock { $0.keep(watch, of: round) }?.cancel()
    }

    private func networkReturned() {
        let delay = restartSpread * random.unit()
        guard delay > .zero else { return passAll() }
        let due = timers.now.advanced(by: delay)
        restart.set(on: timers, for: { state.withLock { $0.count > 0 } ? due : nil }) { [weak self] in
            // It may be gone again; then the watch waits for its next return.
            if let self, network.isAvailable { passAll() }
        }
    }

    private func passAll() {
        let (waiters, watch) = state.withLock { $0.leaveAll() }
        watch?.cancel()
        for task in waiters.compactMap({ $0.end() }) { super.load(task: task) }
    }

    /// Takes a waiter out of the queue, and answers whether it still waited there.
    fileprivate func remove(_ waiter: NetworkWaiter) -> Bool {
        let left = state.withLock { $0.leave(waiter.place) }
        left?.watch?.cancel()
        return left != nil
    }

    /// Ends the waiting of all tasks.
    public override func reset(with group: DispatchGroup) {
        let (waiters, watch) = state.withLock { $0.leaveAll() }
        watch?.cancel()
        for task in waiters.compactMap({ $0.end() }) {
            fail(task, .resetInProgress, reason: "A reset ended the wait for a network")
        }
        super.reset(with: group)
    }

    /// How many requests wait, and whether there is a network.
    public override var readings: [LoaderReading] {
        [
            .level("network.waiting", waiting, "How many requests wait for a network"),
            .gauge(
                "network.available", network.isAvailable ? 1 : 0, unit: "1", "1 while there is a network, otherwise 0"),
        ]
    }

    public override var details: String { "\(network.isAvailable ? "online" : "offline"), waiting \(waiting)" }
}

/// A task that waits for a network, and leaves when it is cancelled or completed before.
private final class NetworkWaiter: HTTPTaskObserver, @unchecked Sendable {
    /// Its place among the waiters; set before it observes the task.
    var place = QueuePlace.nowhere

    private let loader: WaitForNetwork
    private let isMeasured: Bool
    let alarm = Alarm()
    private let isOver = Atomic(false)
    // Written before another object knows of it, and taken once, by whatever has taken this waiter out of the queue.
    private var task: HTTPTask?

    init(_ task: HTTPTask, of loader: WaitForNetwork) {
        self.loader = loader
        self.task = task
        isMeasured = task.beginWait()
    }

    /// Whether another thread has ended the wait.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Ends the wait, and returns the task; to be called once, by what has taken this out of the queue.
    @discardableResult
    func end() -> HTTPTask? {
        isOver.store(true, ordering: .releasing)
        alarm.end()
        if isMeasured { task?.endWait() }
        return replace(&task, with: nil)
    }

    func taskWasCancelled(_ task: HTTPTask) {
        if loader.remove(self), let task = end() { loader.fail(task, .cancelled) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        // A loader above has ended it.
        if loader.remove(self) { end() }
    }
}

/// The requests that wait for a network: decisions, without a network, a clock or tasks.
private struct NetworkWaits {
    private let most: Int
    private var queue = LinkedQueue<NetworkWaiter>()
    private var watch: NetworkWatch?
    /// The number of the present wait: all from the first that waits until none does.
    private var round = 0

    init(most: Int) { self.most = max(0, most) }

    var count: Int { queue.count }

    /// Lets a request wait, nil if too many do; returns its place, and for the first the round to watch the network in.
    mutating func admit(_ waiter: NetworkWaiter) -> (place: QueuePlace, newRound: Int?)? {
        guard queue.count < most else { return nil }
        let isFirst = queue.isEmpty
        if isFirst { round += 1 }
        return (queue.append(waiter), isFirst ? round : nil)
    }

    /// Keeps the watch of a round; returns it to be cancelled if that round is over.
    mutating func keep(_ watch: NetworkWatch, of round: Int) -> NetworkWatch? {
        guard round == self.round, !queue.isEmpty else { return watch }
        return replace(&self.watch, with: watch)
    }

    /// Takes out a request that waits no longer; nil if it has left already.
    mutating func leave(_ place: QueuePlace) -> (waiter: NetworkWaiter, watch: NetworkWatch?)? {
        guard let waiter = queue.remove(place) else { return nil }
        return (waiter, queue.isEmpty ? replace(&watch, with: nil) : nil)
    }

    /// Takes out all, in the order of their arrival.
    mutating func leaveAll() -> (waiters: [NetworkWaiter], watch: NetworkWatch?) {
        let waiters = queue.elements
        // One by one, because a new queue would restart the places, and requests that leave keep theirs.
        while queue.popFirst() != nil {}
        return (waiters, replace(&watch, with: nil))
    }
}
