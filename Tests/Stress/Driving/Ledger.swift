import Foundation
import LoaderChain
import Synchronization

/// Counts what came of the tasks of one run, and ends the process at the first thing that is wrong.
final class Ledger: Sendable {
    /// Which run it is, for the sentences.
    let title: String
    private let completions = Atomic(0)
    private let alive = Atomic(0)
    private let outcomes = Guarded<[HTTPError.Code?: Int]>([:])
    private let watched = Guarded<[Watched]>([])

    private struct Watched {
        let name: String
        weak var object: AnyObject?
    }

    init(title: String) { self.title = title }

    /// How many results have come.
    var completed: Int { completions.load(ordering: .acquiring) }

    /// How many of the objects that handlers hold exist.
    var kept: Int { alive.load(ordering: .acquiring) }

    /// What the results were, the most frequent first.
    var summary: String {
        outcomes.withLock { $0 }.sorted { $0.value > $1.value }
            .map { "\($0.key.map { "\($0)" } ?? "response") \($0.value)" }.joined(separator: ", ")
    }

    /// Says what is wrong, and ends the process.
    func fail(_ sentence: String) -> Never {
        complain("\(title): \(sentence)")
        // At once: other threads still run.
        _exit(1)
    }

    // MARK: What must be released

    /// Notes an object that must be gone in the end.
    func watch(_ object: AnyObject, _ name: String) {
        watched.withLock { $0.append(Watched(name: name, object: object)) }
    }

    /// The name of an object that is still there, and how many there are of that name.
    var remainder: String? {
        let left = watched.withLock { $0.filter { $0.object != nil } }
        return left.first.map { first in
            let count = left.count { $0.name == first.name }
            return count == 1 ? first.name : "\(count) of \(first.name)"
        }
    }

    // MARK: What handlers hold

    /// The result that the caller of a task waits for: there must be one.
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

    /// What any other handler holds; it must be released whether the handler was called or not.
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
