// Contract: the check that every loader has to pass. It may use everything but Loopback.

import LoaderChain

/// Checks whether a loader keeps the contract that all loaders of a chain rely on.
///
/// Run it on your own loaders:
///
/// ```swift
/// @Test func keepsTheContract() async {
///     let violations = await ContractCheck { _ in MyLoader() }.run()
///     #expect(violations.isEmpty)
/// }
/// ```
///
/// The check puts the loader in front of a ``ScriptedTerminal``. It sends responses at once and later, twice and never; cancels
/// and resets at every point; calls the loader from its own handlers and from many threads; and loads long runs of tasks that
/// must not deepen the stack. Whatever the loader does with a task (it may refuse it, delay it or load it several times), each
/// task must complete once, a cancelled one as cancelled, a reset must finish, and nothing may be leaked.
///
/// A violation is a sentence that says what was done, what did not happen, and how long the check waited for it. A loader
/// that blocks its caller's thread is found as well; since that thread never returns, the check ends there.
public struct ContractCheck: Sendable {
    let make: @Sendable (ManualTimers) -> HTTPLoader
    let seed: UInt64
    let patience: Duration
    let mayLeaveCancelledTasks: Bool
    let tasks: Int

    /// Prepares a check.
    ///
    /// - Parameters:
    ///   - seed: determines what the threads do in the randomized part.
    ///   - patience: how long to wait for each event, by default ten seconds. If the loader is correct, no wait takes that
    ///     long; a thread sanitizer on a slow machine may need more.
    ///   - mayLeaveCancelledTasks: whether the loader may complete a cancelled task at once while its work goes on, as a loader
    ///     does that shares an execution among several tasks. Other loaders wait until the loaders after them have stopped.
    ///   - tasks: how many tasks the longest part loads, one after the other; at least 1,000. A small number is enough if you
    ///     check many chains of the same loaders, each with a seed of its own.
    ///   - make: makes a new loader, or a chain of several, for each part of the check. If it needs timers, it uses the ones
    ///     that it receives; the check advances them whenever something waits for them.
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

    /// Runs every part, and returns the violations.
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

    /// One scenario of the check.
    struct Part: Sendable {
        let name: String
        let run: @Sendable (ContractStage, _ seed: UInt64) async -> Void
    }

    private static let parts = completionParts + cancelParts + resetParts + loadParts
}
