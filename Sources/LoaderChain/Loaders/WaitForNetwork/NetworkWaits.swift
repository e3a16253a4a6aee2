// Loaders/WaitForNetwork: requests that wait while there is no network. NetworkWaits decides, WaitForNetwork acts.

/// What waits for a network: decisions, without a network, a clock or tasks.
struct NetworkWaits<Waiter> {
    /// What becomes of one that came without a network.
    enum Admission {
        /// It waits at a place, and the network is to be watched if it is the first.
        case waits(QueuePlace, isFirst: Bool)
        /// Too many wait.
        case refused
    }

    private let most: Int
    private var queue = LinkedQueue<Waiter>()
    /// The watch, and the number of the wait that it was begun for.
    private var watch: NetworkWatch?
    private var round = 0

    init(most: Int) { self.most = max(0, most) }

    var count: Int { queue.count }

    /// The number of the present wait: all from the first that waits until none does.
    var currentRound: Int { round }

    /// Lets one wait, if there is room.
    mutating func admit(_ waiter: Waiter) -> Admission {
        guard queue.count < most else { return .refused }
        let isFirst = queue.isEmpty
        if isFirst { round += 1 }
        return .waits(queue.append(waiter), isFirst: isFirst)
    }

    /// Keeps the watch of a round; returns it to be cancelled if that round is over.
    mutating func keep(_ watch: NetworkWatch, of round: Int) -> NetworkWatch? {
        guard round == self.round, !queue.isEmpty else { return watch }
        return replace(&self.watch, with: watch)
    }

    /// Takes out one that waits no longer; nil if it has left already.
    mutating func leave(_ place: QueuePlace) -> (waiter: Waiter, watch: NetworkWatch?)? {
        guard let waiter = queue.remove(place) else { return nil }
        return (waiter, queue.isEmpty ? replace(&watch, with: nil) : nil)
    }

    /// Takes out all, in the order of their arrival.
    mutating func leaveAll() -> (waiters: [Waiter], watch: NetworkWatch?) {
        let waiters = queue.elements
        // One by one, because a new queue would begin anew with the places, of which those who leave keep theirs.
        while queue.popFirst() != nil {}
        return (waiters, replace(&watch, with: nil))
    }
}
