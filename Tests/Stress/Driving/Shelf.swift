import LoaderChain

/// Tasks that any thread may get, whichever loader owns them.
final class Shelf: Sendable {
    private let places = (0..<16).map { _ in Locked<HTTPTask?>(nil) }

    /// Replaces a task.
    func put(_ task: HTTPTask, at number: UInt64) {
        // The replaced task is released outside the lock.
        _ = places[Int(number % UInt64(places.count))].withLock { replace(&$0, with: task) }
    }

    subscript(number: UInt64) -> HTTPTask? {
        places[Int(number % UInt64(places.count))].withLock { $0 }
    }

    func clear() {
        for place in places { _ = place.withLock { replace(&$0, with: nil) } }
    }
}
