import Foundation
import LoaderChain
import Synchronization

/// Counts the results of one run, and ends the process at the first error.
final class Ledger: Sendable {
    /// The run, for error messages.
    let title: String
    private let completions = Atomic(0)
    private let alive = Atomic(0)
    private let outcomes = Locked<[HTTPError.Code?: Int]>([:])
    private let watched = Locked<[Watched]>([])

    /// All ledgers, until the process ends.
    ///
    /// A weak reference is nil as soon as its object begins to end, on whatever thread. Until that end is over, what Swift allocated
    /// for weak references to it would only be known by a pointer in the object that the leak check cannot read.
    private static let all = Locked<[Ledger]>([])

    private struct Watched {
        let name: String
        weak var object: AnyObject?
    }

    init(title: String) {
        self.title = title
        Ledger.all.withLock { $0.append(self) }
    }

    /// The number of results so far.
    var completed: Int { completions.load(ordering: .acquiring) }

    /// The number of live objects that handlers hold.
    var kept: Int { alive.load(ordering: .acquiring) }

    /// The results, the most frequent first.
    var summary: String {
        outcomes.withLock { $0 }.sorted { $0.value > $1.value }
            .map { "\($0.key.map { "\($0)" } ?? "response") \($0.value)" }.joined(separator: ", ")
    }

    /// Reports an error, and ends the process.
    func fail(_ sentence: String) -> Never {
        complain("\(title): \(sentence)")
        // Immediately, because other threads are still running.
        _exit(1)
    }

    // MARK: Objects that must be released

    /// Records an object that must be gone in the end.
    func watch(_ object: AnyObject, _ name: String) {
        watched.withLock { $0.append(Watched(name: name, object: object)) }
    }

    /// The name of an object that still exists, and how many there are with that name.
    var remainder: String? {
        let left = watched.withLock { $0.filter { $0.object != nil } }
        return left.first.map { first in
            let count = left.count { $0.name == first.name }
            return count == 1 ? first.name : "\(count) of \(first.name)"
        }
    }

    // MARK: Objects that handlers hold

    /// The result that the caller of a task waits for; there must be exactly one.
    final class Ticket: Sendable {
        private let ledger: Ledger
        private let count = Atomic(0)

        init(_ ledger: Ledger) {
            self.ledger = ledger
            ledger.alive.wrappingAdd(1, ordering: .relaxed)
        }

        func complete(_ result: HTTPResult) {
            guard count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue == 1 else {
                ledger.fail("a task completed twice, at last with \(result)")
            }
            ledger.outcomes.withLock { $0[result.error?.code, default: 0] += 1 }
            ledger.completions.wrappingAdd(1, ordering: .releasing)
        }

        deinit {
            if count.load(ordering: .acquiring) == 0 { ledger.fail("a task was released and never completed") }
            ledger.alive.wrappingSubtract(1, ordering: .releasing)
        }
    }

    /// An object that another handler holds; it must be released whether the handler is called or not.
    final class Keepsake: Sendable {
        private let ledger: Ledger
        private let calls = Atomic(0)

        init(_ ledger: Ledger) {
            self.ledger = ledger
            ledger.alive.wrappingAdd(1, ordering: .relaxed)
        }

        func use() {
            if calls.wrappingAdd(1, ordering: .relaxed).newValue > 1 { ledger.fail("a handler was called twice") }
        }

        deinit { ledger.alive.wrappingSubtract(1, ordering: .releasing) }
    }
}
