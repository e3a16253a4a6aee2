import Dispatch
import DurableFiles
import LoaderChain
import LoaderChainPlatformC

// Contract: the check that every loader has to pass. It may use everything but Loopback.

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
/// The check puts the loader in front of a terminal of its own. It sends responses at once and later, twice and never; cancels
/// and resets at every point; calls the loader from its own handlers, from a second thread while it is busy, and from many
/// threads; and loads long runs of tasks that must not deepen the stack. Whatever the loader does with a task (it may refuse it,
/// delay it or load it several times), each task must complete once, a cancelled one as cancelled and without delay, a reset must
/// finish, nothing may be leaked, and the options of a request must reach the terminal.
///
/// State that the loader changes without a lock shows by chance at best. Run the test with `swift test --sanitize=thread` as well:
/// the check calls the loader from many threads at once, and the sanitizer names the line.
///
/// A violation is a sentence with what was done, what the loader did, and how to fix it. The check ends at the first event that
/// does not come, and at the first task that the loader releases without completing it, since later violations would follow
/// from it. An event is also the return of a call, which does not come if the loader blocks the thread that called it.
public struct ContractCheck: Sendable {
    let make: @Sendable (ManualTimers) -> HTTPLoader
    let seed: UInt64
    let patience: Duration
    let mayLeaveCancelledTasks: Bool
    let tasks: Int
    /// That of each thread; a loader that nests too deeply is found long before it is used up.
    var stackSize = 8 << 20

    /// Prepares a check.
    ///
    /// - Parameters:
    ///   - seed: the seed of the randomized part.
    ///   - patience: the longest wait for each event, by default ten seconds, and at least a tenth of a second. If the
    ///     loader is correct, no wait takes that long; a thread sanitizer on a slow machine may need more.
    ///   - mayLeaveCancelledTasks: whether the loader may complete a cancelled task at once while its work goes on, as a loader
    ///     does that shares an execution among several tasks. Other loaders wait until the loaders after them have stopped.
    ///   - tasks: the number of tasks that the longest part loads, one after another; by default 1,000, and at least 300. The
    ///     least is enough if you check many chains of the same loaders, each with a seed of its own.
    ///   - make: makes a new loader, or a chain of several, for each part of the check. If it needs timers, it uses the timers
    ///     that it receives; the check advances them whenever something waits for them, except in parts in which a cancel or a
    ///     reset must not need time.
    public init(
        seed: UInt64 = 1, patience: Duration = .seconds(10), mayLeaveCancelledTasks: Bool = false, tasks: Int = 1_000,
        _ make: @escaping @Sendable (ManualTimers) -> HTTPLoader
    ) {
        self.mayLeaveCancelledTasks = mayLeaveCancelledTasks
        self.make = make
        self.seed = seed
        // Without any, each wait would be over before it begins, and the watch over blocked calls would never rest.
        self.patience = max(patience, .milliseconds(100))
        self.tasks = max(tasks, 300)
    }

    /// Runs every part, and returns the violations.
    ///
    /// If all of Swift's own threads are blocked, so that no task of the program continues, the violations are printed too.
    public func run() async -> [String] {
        await withUnsafeContinuation { continuation in
            let run = ContractRun(self)
            startThread(orSay: { continuation.resume(returning: [$0]) }) {
                continuation.resume(returning: run.violations())
            }
        }
    }

    /// One scenario of the check.
    struct Part: Sendable {
        let name: String
        let run: @Sendable (ContractStage) -> Void
    }

    static let parts =
        firstParts + lockParts + passingParts + completionParts + cancelParts + resetParts
        + [waitingLockPart] + loadParts
}

/// One run of a check: the parts on a thread of their own, and another thread that watches it.
private final class ContractRun: Sendable {
    private let check: ContractCheck
    private let state = Locked(State())
    private let isOver = DispatchSemaphore(value: 0)
    /// How many times the patience a call may take in which nothing happens.
    private static let timesOfPatience = 4

    private struct State {
        var violations: [String] = []
        var present: (name: String, stage: ContractStage)?
    }

    init(_ check: ContractCheck) { self.check = check }

    /// Runs all parts and returns what they found; called on a thread that may wait.
    func violations() -> [String] {
        check.startThread(orSay: note) {
            self.runParts()
            self.isOver.signal()
        }
        watch()
        let violations = state.withLock { $0.violations }
        if !violations.isEmpty { printUnlessHeard(violations) }
        return violations
    }

    /// Notes that there are no parts, since they have no thread.
    private func note(_ violation: String) {
        state.withLock { $0.violations = [violation] }
        isOver.signal()
    }

    private func runParts() {
        for part in ContractCheck.parts {
            let stage = ContractStage(check)
            state.withLock { $0.present = (part.name, stage) }
            part.run(stage)
            stage.end()
            guard conclude(part.name, stage) else { return }
        }
    }

    /// Notes what a part has found, and returns whether the next one comes; false also after the watch has noted it.
    private func conclude(_ name: String, _ stage: ContractStage) -> Bool {
        let isOver = stage.isOver
        let found = stage.found.map { "\(name): \($0)" }
        let isNoted = state.withLock { state in
            guard state.present?.stage === stage else { return false }
            state.present = nil
            state.violations += found
            return true
        }
        guard isNoted, isOver else { return isNoted }
        letGo(stage)
        return false
    }

    /// Ends what a part has left behind, on a thread that the loader may block as well.
    private func letGo(_ stage: ContractStage) {
        let isDone = DispatchSemaphore(value: 0)
        check.startThread(orSay: { _ in isDone.signal() }) {
            stage.letGo()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + check.patience / .seconds(1))
    }

    /// Waits for the end of all parts, or for a call of the loader that does not return.
    ///
    /// Every wait of a part ends when the patience is exhausted. A call of the loader has several times as long, since it
    /// may be slow without waiting for anything.
    private func watch() {
        var last = (part: ObjectIdentifier?.none, number: 0, times: 0)
        while isOver.wait(timeout: .now() + check.patience / .seconds(1)) == .timedOut {
            guard let (name, stage) = state.withLock({ $0.present }) else { continue }
            let call = stage.presentCall
            guard let blocked = call.name, (ObjectIdentifier(stage), call.number) == (last.part, last.number) else {
                last = (ObjectIdentifier(stage), call.number, 0)
                continue
            }
            last.times += 1
            guard last.times >= Self.timesOfPatience else { continue }
            ContractPatience(time: check.patience).takeAllTurns()
            guard stage.presentCall.number == call.number else { continue }
            stage.noteBlockedCall(blocked)
            _ = conclude(name, stage)
            _ = isOver.wait(timeout: .now() + check.patience / .seconds(1))
            return
        }
    }

    /// Prints the violations if no Swift task can run that would return them.
    private func printUnlessHeard(_ violations: [String]) {
        let limit = DispatchTime.now() + check.patience / .seconds(1)
        guard !ContractPatience.takeTurn(until: limit) else { return }
        let text =
            "ContractCheck: all threads of Swift's tasks are blocked. It found:\n" + violations.joined(separator: "\n")
        writeAll(Array("\(text)\n".utf8), to: STDERR_FILENO)
    }
}
