import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting

/// A loader with one mistake, which can be undone to leave no trace of it.
class WrongLoader: HTTPLoader, @unchecked Sendable {
    let timers: ManualTimers
    required init(_ timers: ManualTimers) { self.timers = timers }
    override var name: String { "Wrong" }

    /// Ends what the loader keeps, or what it waits for.
    func end() {}

    /// Passes a copy of a task on, which does not work for the task.
    final func passCopy(
        of task: HTTPTask, then completion: @escaping @Sendable (HTTPResult) -> Void
    ) -> HTTPTask {
        let copy = HTTPTask(request: task.request)
        copy.addCompletionHandler(completion)
        super.load(task: copy)
        return copy
    }
}

// MARK: Completing

final class KeepsTasks: WrongLoader, @unchecked Sendable {
    private let kept = Locked<[HTTPTask]>([])
    override func load(task: HTTPTask) { kept.withLock { $0.append(task) } }
}

final class DropsTasks: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {}
}

final class CompletesAfterPassingOn: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        super.load(task: task)
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}

final class SwallowsFailures: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        let attempt = task.makeAttempt()
        attempt.addCompletionHandler { if case .success = $0 { task.complete($0) } }
        super.load(task: attempt)
    }
}

final class TurnsLossIntoSuccess: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.addResultFilter { result in
            guard result.error?.code == .abandoned else { return result }
            return .success(HTTPResponse(request: result.request, status: .ok))
        }
        super.load(task: task)
    }
}

final class AnswersAnything: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}

final class MixesUpResponses: WrongLoader, @unchecked Sendable {
    private let first = Locked<HTTPResult?>(nil)

    override func load(task: HTTPTask) {
        let attempt = task.makeAttempt()
        // The first result of any is kept for the next.
        attempt.addCompletionHandler { [first] result in
            let earlier = first.withLock { replace(&$0, with: result) }
            if result.error == nil, let earlier, earlier.error == nil {
                task.complete(earlier)
            } else {
                task.complete(result)
            }
        }
        super.load(task: attempt)
    }
}

// MARK: Passing on

final class PassesTwice: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        super.load(task: task)
        super.load(task: task)
    }
}

final class ChangesTheRequestTooLate: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        super.load(task: task)
        task.request.headers["X-Late"] = "1"
    }
}

final class LosesOptions: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        let old = task.request
        task.request = HTTPRequest(method: old.method, host: old.host, path: "/v1" + old.path, headers: old.headers)
        super.load(task: task)
    }
}

final class RetriesForever: WrongLoader, @unchecked Sendable {
    private struct State {
        weak var attempt: HTTPTask?
        var isOver = false
    }
    private let state = Locked(State())

    override func load(task: HTTPTask) {
        let attempt = task.makeAttempt()
        state.withLock { $0.attempt = attempt }
        attempt.addCompletionHandler { [state] result in
            let isOver = result.error == nil || task.isCancelled || state.withLock(\.isOver)
            if isOver { task.complete(result) } else { self.load(task: task) }
        }
        super.load(task: attempt)
    }

    override func end() {
        let attempt = state.withLock { state in
            state.isOver = true
            return state.attempt
        }
        attempt?.fail(.cancelled)
    }
}

// MARK: Cancelling

final class IgnoresCancels: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        _ = passCopy(of: task) { task.complete($0) }
    }
}

final class AnswersCancelsTooEarly: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        let copy = passCopy(of: task) { task.complete($0) }
        task.addCancelHandler { [weak copy] task in
            copy?.cancel()
            task.fail(.cancelled)
        }
    }
}

final class CompletesWhatItPassedOnWhenCancelled: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.addCancelHandler { $0.fail(.cancelled) }
        super.load(task: task)
    }
}

final class ForgetsItsOwnTask: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.addCancelHandler { $0.fail(.cancelled) }
        _ = passCopy(of: task) { task.complete($0) }
    }
}

final class CapturesTasks: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.addCancelHandler { _ = task.isCompleted }
        super.load(task: task)
    }
}

final class HoldsTasksThatHaveEnded: WrongLoader, @unchecked Sendable {
    private let passed = Locked<[HTTPTask]>([])
    override func load(task: HTTPTask) {
        passed.withLock { $0.append(task) }
        super.load(task: task)
    }
}

// MARK: Resetting

final class NeverFinishesResets: WrongLoader, @unchecked Sendable {
    private let entered = Locked<[DispatchGroup]>([])
    override func reset(with group: DispatchGroup) {
        group.enter()
        entered.withLock { $0.append(group) }
        super.reset(with: group)
    }
    override func end() { for group in entered.withLock({ replace(&$0, with: []) }) { group.leave() } }
}

final class KeepsResetsToItself: WrongLoader, @unchecked Sendable {
    override func reset(with group: DispatchGroup) {}
}

final class ResetsTheNextTwice: WrongLoader, @unchecked Sendable {
    override func reset(with group: DispatchGroup) {
        nextLoader?.reset {}
        super.reset(with: group)
    }
}

// MARK: Keeping

final class RefersToItself: WrongLoader, @unchecked Sendable {
    private let me = Locked<HTTPLoader?>(nil)
    override func load(task: HTTPTask) {
        me.withLock { $0 = self }
        super.load(task: task)
    }
    override func end() { _ = me.withLock { replace(&$0, with: nil) } }
}

final class LeavesTimers: WrongLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        tick()
        super.load(task: task)
    }
    private func tick() { timers.schedule(after: .seconds(1)) { [weak self] in self?.tick() } }
}
