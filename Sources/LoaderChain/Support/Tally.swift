import Synchronization

/// A number of things that have happened, counted by any thread.
package final class Tally: Sendable {
    private let number = Atomic(0)

    /// Begins with nothing.
    package init() {}

    /// How many were counted.
    package var count: Int { number.load(ordering: .relaxed) }

    /// Counts one more.
    package func increment() { number.wrappingAdd(1, ordering: .relaxed) }
}
