/// The waiters of a throttle that limits each host, in an order that passes over the hosts that have no room.
///
/// Each host keeps its own waiters in the order of their arrival. The hosts that have room and waiters stand in a heap for
/// each priority, by their first waiter: so the first waiter that can run is found without looking at those that cannot.
/// A host that has nothing running and nothing waiting is forgotten.
final class HostQueues {
    /// How many tasks of one host may run at once.
    private var limit: UInt
    private var hosts: [String: ThrottleHost] = [:]
    private var heaps = PerPriority(
        low: HostHeap(.low), normal: HostHeap(.normal), high: HostHeap(.high))

    init(limit: UInt) { self.limit = limit }

    /// For which priorities there is a waiter whose host has room.
    var ready: PerPriority<Bool> { heaps.map { !$0.isEmpty } }

    // MARK: Arriving

    /// The host of a waiter, which is known from now on.
    func enter(_ waiter: ThrottleWaiter) -> ThrottleHost {
        let name = waiter.hostName
        let host = hosts[name] ?? ThrottleHost(name)
        // Until it has a task it may be forgotten again.
        if host.isIdle { hosts[name] = host }
        waiter.host = host
        return host
    }

    /// Forgets a host that has no task.
    func forgetIfIdle(_ host: ThrottleHost) {
        if host.isIdle { hosts[host.name] = nil }
    }

    /// Whether one more task of a host may run.
    func hasRoom(_ host: ThrottleHost) -> Bool { host.running < limit }

    /// Counts a task that runs without having waited.
    func start(at host: ThrottleHost) {
        host.running += 1
        updateAll(host)
    }

    /// Puts a waiter behind the others of its host.
    func append(_ link: WaiterList.Link, _ priority: ThrottlePriority, to host: ThrottleHost) {
        host.lists.change(priority) { $0.append(link) }
        host.waiting += 1
        update(host, priority)
    }

    // MARK: Leaving

    /// Takes the first waiter of a priority whose host has room, and counts it as running.
    func takeFirst(_ priority: ThrottlePriority) -> WaiterList.Link? {
        guard let host = heaps[priority].top, let link = host.lists.change(priority, { $0.popFirst() }) else {
            return nil
        }
        host.waiting -= 1
        start(at: host)
        return link
    }

    /// Takes out a waiter wherever it stands.
    func remove(_ waiter: ThrottleWaiter) {
        guard let host = waiter.host else { return }
        host.lists.change(waiter.priority) { $0.remove(waiter) }
        host.waiting -= 1
        update(host, waiter.priority)
        forgetIfIdle(host)
    }

    /// Takes out all waiters.
    func removeAll() -> WaiterList {
        var all = WaiterList()
        for host in hosts.values {
            for priority in ThrottlePriority.allCases {
                all.append(contentsOf: host.lists.change(priority) { exchange(&$0, with: WaiterList()) })
            }
            host.waiting = 0
            updateAll(host)
        }
        hosts = hosts.filter { !$0.value.isIdle }
        return all
    }

    /// Counts the end of a task that ran.
    func finish(_ waiter: ThrottleWaiter) {
        // A task that ran before hosts were counted counts for none.
        guard let host = waiter.host else { return }
        host.running -= 1
        updateAll(host)
        forgetIfIdle(host)
    }

    // MARK: The limit

    /// Changes how many tasks of one host may run at once.
    func setLimit(_ limit: UInt) {
        self.limit = limit
        for host in hosts.values { updateAll(host) }
    }

    /// The tasks of each host.
    var counts: [String: Throttle.Snapshot.Counts] {
        hosts.mapValues { Throttle.Snapshot.Counts(running: Int(clamping: $0.running), waiting: $0.waiting) }
    }

    private func updateAll(_ host: ThrottleHost) {
        update(host, .low)
        update(host, .normal)
        update(host, .high)
    }

    /// Puts a host into the heap of a priority or takes it out, as room and waiters have it.
    private func update(_ host: ThrottleHost, _ priority: ThrottlePriority) {
        let belongs = hasRoom(host) && !host.lists[priority].isEmpty
        heaps.change(priority) { $0.update(host, belongs: belongs) }
    }
}
