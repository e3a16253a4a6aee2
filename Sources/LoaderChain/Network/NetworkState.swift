/// What is known of a network, and who wants to hear of it: decisions, without a system.
struct NetworkState: Sendable {
    typealias Listener = @Sendable (Bool) -> Void

    /// Whether there is a network; true until the system says otherwise, since then a request finds out.
    private(set) var isAvailable = true
    private var listeners: [Int: Listener] = [:]
    private var lastNumber = 0

    /// Whether nothing needs to be watched.
    var isUnwatched: Bool { listeners.isEmpty }

    /// Notes what the system says, and returns the listeners to tell, if it is news.
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
