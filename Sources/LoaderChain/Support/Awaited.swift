/// A value behind a lock; Swift tasks can wait until it meets a condition, and the closures run under the lock, so they call no user code.
package final class Awaited<Value>: Sendable {
    private struct State {
        var value: Value
        var waits: [Int: Wait] = [:]
        var lastNumber = 0
    }

    private struct Wait {
        /// Resumes the task, if the value meets its condition.
        let resumption: (Value) -> (() -> Void)?
        let cancel: () -> Void
    }

    private let state: Locked<State>

    package init(_ value: Value) { state = Locked(State(value: value)) }

    package func read<Result>(_ body: (Value) -> Result) -> Result { state.withLock { body($0.value) } }

    /// Changes the value, and then resumes the tasks that waited for that, in their order.
    @discardableResult
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, resumptions): (Result, [() -> Void]) = state.withLock { state in
            let result = body(&state.value)
            guard !state.waits.isEmpty else { return (result, []) }
            let met = state.waits.compactMapValues { $0.resumption(state.value) }.sorted { $0.key < $1.key }
            for (number, _) in met { state.waits[number] = nil }
            return (result, met.map(\.value))
        }
        for resume in resumptions { resume() }
        return result
    }

    package var waiting: Int { state.withLock { $0.waits.count } }

    /// Waits until `answer` gives an answer to the value, now or after a change; nil if the task that waits is cancelled first.
    package func wait<Answer: Sendable>(for answer: @escaping (Value) -> Answer?) async -> Answer? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Answer?, Never>) in
                let resume: (() -> Void)? = state.withLock { state in
                    let wait = Wait(
                        resumption: { value in
                            answer(value).map { answer in { continuation.resume(returning: answer) } }
                        },
                        cancel: { continuation.resume(returning: nil) })
                    if let resume = wait.resumption(state.value) { return resume }
                    // A task is marked as cancelled before its handler runs. If the handler took the lock first and found no
                    // wait, that shows here; if it comes later, it finds this one.
                    if Task.isCancelled { return wait.cancel }
                    state.waits[number] = wait
                    return nil
                }
                resume?()
            }
        } onCancel: {
            state.withLock { $0.waits.removeValue(forKey: number) }?.cancel()
        }
    }

    /// Waits until the value meets a condition, or until the task that waits is cancelled.
    package func wait(until isMet: @escaping (Value) -> Bool) async {
        _ = await wait { isMet($0) ? true : nil }
    }
}
