import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting

// Mistakes of loaders that hold locks, block threads, or let tasks wait.

// MARK: Locks

final class HoldsALock: WrongLoader, @unchecked Sendable {
    private let lock = NSLock()
    override func load(task: HTTPTask) {
        lock.lock()
        super.load(task: task)
        lock.unlock()
    }
}

final class HoldsARecursiveLock: WrongLoader, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    override func load(task: HTTPTask) {
        lock.withLock { super.load(task: task) }
    }
}

final class WaitsForItsTurn: WrongLoader, @unchecked Sendable {
    private let turn = DispatchSemaphore(value: 1)
    override func load(task: HTTPTask) {
        turn.wait()
        task.addCompletionHandler { [turn] in turn.signal() }
        super.load(task: task)
    }
}

final class CompletesUnderALock: WrongLoader, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    override func load(task: HTTPTask) {
        let attempt = lock.withLock { task.makeAttempt() }
        attempt.addCompletionHandler { [lock] result in _ = lock.withLock { task.complete(result) } }
        super.load(task: attempt)
    }
}

final class CancelsUnderALock: WrongLoader, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    override func load(task: HTTPTask) {
        lock.withLock {}
        let copy = passCopy(of: task) { task.complete($0) }
        task.addCancelHandler { [lock, weak copy] in _ = lock.withLock { copy?.cancel() } }
    }
}

final class ResetsUnderALock: WrongLoader, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    override func load(task: HTTPTask) {
        lock.withLock {}
        super.load(task: task)
    }
    override func reset(with group: DispatchGroup) { lock.withLock { super.reset(with: group) } }
}

// MARK: Blocking

final class BlocksItsCaller: WrongLoader, @unchecked Sendable {
    private let never = DispatchSemaphore(value: 0)
    override func load(task: HTTPTask) {
        never.wait()
        super.load(task: task)
    }
    override func end() { never.signal() }
}

final class BlocksATimer: WrongLoader, @unchecked Sendable {
    private let never = DispatchSemaphore(value: 0)
    override func load(task: HTTPTask) {
        timers.schedule(after: .seconds(1)) {
            self.never.wait()
            super.load(task: task)
        }
    }
    override func end() { never.signal() }
}

final class BlocksAHandler: WrongLoader, @unchecked Sendable {
    private let never = DispatchSemaphore(value: 0)
    override func load(task: HTTPTask) {
        task.addCompletionHandler { [never] in never.wait() }
        super.load(task: task)
    }
    override func end() { never.signal() }
}

/// A call on another thread that blocks.
///
/// The queue is not shared by all Swift tasks: on a small machine those have two threads, and the other tests need them.
final class BlocksAQueue: WrongLoader, @unchecked Sendable {
    private let never = DispatchSemaphore(value: 0)
    override func load(task: HTTPTask) {
        DispatchQueue(label: "blocked").async { [self] in
            never.wait()
            pass(task)
        }
    }
    private func pass(_ task: HTTPTask) { super.load(task: task) }
    override func end() { never.signal() }
}

// MARK: Waiting

final class IgnoresCancelsOnATimer: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        timers.schedule(after: .seconds(1)) { super.load(task: task) }
    }
    override func end() { timers.runAll() }
}

/// Ends the wait of a cancelled task, and not that of a task at a reset.
class LeavesWaiters: WrongLoader, @unchecked Sendable {
    fileprivate let waiting = Locked<[HTTPTask]>([])

    override func load(task: HTTPTask) {
        waiting.withLock { $0.append(task) }
        task.addCancelHandler { [weak self] task in if self?.remove(task) == true { task.fail(.cancelled) } }
        timers.schedule(after: .seconds(1)) { [weak self, weak task] in
            if let self, let task, remove(task) { pass(task) }
        }
    }

    private func pass(_ task: HTTPTask) { super.load(task: task) }

    private func remove(_ task: HTTPTask) -> Bool {
        waiting.withLock { waiting in
            let index = waiting.firstIndex { $0 === task }
            if let index { waiting.remove(at: index) }
            return index != nil
        }
    }
}

final class DropsWaiters: LeavesWaiters, @unchecked Sendable {
    override func reset(with group: DispatchGroup) {
        _ = waiting.withLock { replace(&$0, with: []) }
        super.reset(with: group)
    }
}

/// Lets so many tasks run in all, and then looks again and again whether another one may.
class PollsForSlots: WrongLoader, @unchecked Sendable {
    fileprivate var slots: Int { 200 }
    fileprivate var interval: Duration { .milliseconds(10) }
    private let looks = Locked(0)

    override func load(task: HTTPTask) {
        let look = looks.withLock { looks in
            looks += 1
            return looks
        }
        guard look > slots else { return super.load(task: task) }
        timers.schedule(after: interval) { [weak self] in self?.load(task: task) }
    }

    override func end() {
        looks.withLock { $0 = .min }
        timers.runAll()
    }
}

final class PollsAtOnce: PollsForSlots, @unchecked Sendable {
    override var slots: Int { 1 }
    override var interval: Duration { .zero }
}

// MARK: Counting

/// Lets four tasks run at once, and starts the next when one ends in a way that it has thought of.
class FourAtOnce: WrongLoader, @unchecked Sendable {
    private struct State {
        var running = 0
        var waiting: [HTTPTask] = []
    }
    private let state = Locked(State())
    fileprivate var leaksSlot: @Sendable (HTTPResult) -> Bool { { _ in false } }
    fileprivate var leavesCancelled: Bool { false }

    override func load(task: HTTPTask) {
        let passes = state.withLock { state in
            if state.running < 4 { state.running += 1 } else { state.waiting.append(task) }
            return !state.waiting.contains { $0 === task }
        }
        guard !passes else { return pass(task) }
        guard !leavesCancelled else { return }
        task.addCancelHandler { [weak self] task in
            if let self, remove(task) { task.fail(.cancelled) }
        }
    }

    fileprivate func passWaiter(_ task: HTTPTask) { pass(task) }

    private func pass(_ task: HTTPTask) {
        task.addCompletionHandler { [weak self] result in
            guard let self, !leaksSlot(result) else { return }
            next()
        }
        super.load(task: task)
    }

    private func next() {
        let task = state.withLock { state -> HTTPTask? in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        if let task { passWaiter(task) }
    }

    private func remove(_ task: HTTPTask) -> Bool {
        state.withLock { state in
            let index = state.waiting.firstIndex { $0 === task }
            if let index { state.waiting.remove(at: index) }
            return index != nil
        }
    }

    override func end() { _ = state.withLock { replace(&$0.waiting, with: []) } }
}

final class KeepsTheSlotsOfFailures: FourAtOnce, @unchecked Sendable {
    override var leaksSlot: @Sendable (HTTPResult) -> Bool { { $0.error != nil } }
}

final class KeepsTheSlotsOfCancelled: FourAtOnce, @unchecked Sendable {
    override var leaksSlot: @Sendable (HTTPResult) -> Bool { { $0.error?.code == .cancelled } }
}

final class IgnoresCancelsInItsQueue: FourAtOnce, @unchecked Sendable {
    override var leavesCancelled: Bool { true }
}

/// Holds a lock only while it passes tasks on that have waited.
final class PassesWaitersUnderALock: FourAtOnce, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    override func load(task: HTTPTask) {
        lock.withLock {}
        super.load(task: task)
    }
    override func passWaiter(_ task: HTTPTask) { lock.withLock { super.passWaiter(task) } }
}
