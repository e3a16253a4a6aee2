import LoaderChain

/// Finds out whether a loader keeps the contract that every loader has with the others of its chain.
///
/// Anybody can run it over a loader of their own:
///
/// ```swift
/// @Test func keepsTheContract() async {
///     let violations = await ContractCheck { _ in MyLoader() }.run()
///     #expect(violations.isEmpty)
/// }
/// ```
///
/// The loader is put before a ``ScriptedTerminal``, and lives through answers at once and later, twice and never, cancels
/// and resets at every point, calls from inside its handlers, many threads, and long runs of tasks that must not deepen
/// the stack. Whatever it decides about a task (it may refuse it, delay it or load it several times), each task must
/// complete once, a cancelled one as cancelled, a reset must finish, and nothing may remain.
///
/// A violation is a sentence that says what was done, what did not come of it, and how long that was waited for. A loader
/// that blocks the thread that calls it is found as well; since that thread does not come back, the check ends there.
public struct ContractCheck: Sendable {
    let make: @Sendable (ManualTimers) -> HTTPLoader
    let seed: UInt64
    let patience: Duration
    let mayLeaveCancelledTasks: Bool
    let tasks: Int

    /// Prepares a check.
    ///
    /// - Parameters:
    ///   - seed: decides what the threads do in the part that is left to chance.
    ///   - patience: how long to wait for each thing that has to happen, by default ten seconds. It is never waited for
    ///     when all is well; a thread sanitizer on a slow machine may need more.
    ///   - mayLeaveCancelledTasks: whether the loader may complete a cancelled task at once and leave its work to others, as
    ///     one does that shares an execution among several. Others wait until the loaders after them have stopped.
    ///   - tasks: how many tasks the longest part loads, one after the other; at least 1,000. Fewer than usual are
    ///     enough where many chains of the same loaders are checked, each with a seed of its own.
    ///   - make: makes a new loader, or a chain of several, for each part of the check. If it needs timers, it takes those
    ///     that it is given; the check moves them whenever something waits for them.
    public init(
        seed: UInt64 = 1, patience: Duration = .seconds(10), mayLeaveCancelledTasks: Bool = false, tasks: Int = 5_000,
        _ make: @escaping @Sendable (ManualTimers) -> HTTPLoader
    ) {
        self.mayLeaveCancelledTasks = mayLeaveCancelledTasks
        self.make = make
        self.seed = seed
        self.patience = patience
        self.tasks = max(tasks, 1_000)
    }

    /// Runs every part, and returns what was violated.
    public func run() async -> [String] {
        var violations: [String] = []
        for part in Self.parts {
            let stage = ContractStage(self)
            let isOver = await ContractCalls(stage).run { [seed] in
                await part.run(stage, seed)
                await stage.end()
            }
            if !isOver { stage.noteBlockedCall() }
            violations += stage.found.map { "\(part.name): \($0)" }
            guard isOver else { break }
        }
        return violations
    }

    /// One thing that happens to a loader.
    struct Part: Sendable {
        let name: String
        let run: @Sendable (ContractStage, _ seed: UInt64) async -> Void
    }

    private static let parts = completionParts + cancelParts + resetParts + loadParts
}
