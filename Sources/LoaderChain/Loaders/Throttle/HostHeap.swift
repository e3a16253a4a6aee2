/// Hosts by the arrival of their first waiter of one priority, the earliest on top.
///
/// Each host knows its position, so that one can be moved or taken out from the middle.
struct HostHeap {
    private let priority: ThrottlePriority
    private var hosts: [ThrottleHost] = []

    init(_ priority: ThrottlePriority) { self.priority = priority }

    var isEmpty: Bool { hosts.isEmpty }
    /// The host whose first waiter came first.
    var top: ThrottleHost? { hosts.first }

    /// Puts a host where its first waiter belongs, or takes it out if it is not to be here.
    mutating func update(_ host: ThrottleHost, belongs: Bool) {
        switch (host.positions[priority], belongs) {
        case (nil, false):
            break  // It is where it is to be: not here.
        case (nil, true):
            hosts.append(host)
            rise(from: hosts.count - 1)
        case (let position?, true):
            settle(from: position)
        case (let position?, false):
            host.positions[priority] = nil
            let last = hosts.removeLast()
            guard last !== host else { break }
            place(last, at: position)
            settle(from: position)
        }
    }

    private func ticket(_ host: ThrottleHost) -> UInt64 {
        // Only hosts with a waiter are in the heap.
        host.lists[priority].firstTicket ?? .max
    }

    private mutating func place(_ host: ThrottleHost, at position: Int) {
        hosts[position] = host
        host.positions[priority] = position
    }

    private mutating func settle(from position: Int) {
        // Of the two, one does nothing.
        sink(from: rise(from: position))
    }

    @discardableResult
    private mutating func rise(from start: Int) -> Int {
        let host = hosts[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard ticket(host) < ticket(hosts[parent]) else { break }
            place(hosts[parent], at: position)
            position = parent
        }
        place(host, at: position)
        return position
    }

    private mutating func sink(from start: Int) {
        let host = hosts[start]
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < hosts.count else { break }
            if child + 1 < hosts.count, ticket(hosts[child + 1]) < ticket(hosts[child]) { child += 1 }
            guard ticket(hosts[child]) < ticket(host) else { break }
            place(hosts[child], at: position)
            position = child
        }
        place(host, at: position)
    }
}
