/// What may be done to a task, as the tests do it.
enum TaskEvent: CaseIterable, Hashable {
    case complete, fail, cancel, addCompletionHandler, addCancelHandler, drop, reset
}

/// The contract of a task written down as plainly as possible, to compare the real one with.
///
/// Handlers are known by the number of the step that added them, and each call of one is a line.
struct NaiveTask {
    private(set) var calls: [String] = []
    private(set) var answers: [Bool] = []
    private var result: String?
    private var isCancelled = false
    private var isDropped = false
    private var registered: [(step: Int, hearsCancel: Bool)] = []

    mutating func happens(_ event: TaskEvent, at step: Int) {
        guard !isDropped else { return }
        switch event {
        case .complete: answers.append(complete("response"))
        case .fail: answers.append(complete("timedOut"))
        case .cancel: answers.append(cancel())
        case .addCompletionHandler:
            if let result { calls.append("\(step): \(result)") } else { registered.append((step, false)) }
        case .addCancelHandler:
            if isCancelled {
                calls.append("\(step) is cancelled")
            } else {
                registered.append((step, true))
            }
        case .drop:
            if result == nil { _ = complete("abandoned") }
            isDropped = true
        case .reset:
            // The owner of the task is reset: it asks for the end, and stops.
            _ = cancel()
            _ = complete("cancelled")
        }
    }

    private mutating func complete(_ offered: String) -> Bool {
        guard result == nil else { return false }
        let result = isCancelled ? "cancelled" : offered
        self.result = result
        for handler in registered.reversed() where !handler.hearsCancel {
            calls.append("\(handler.step): \(result)")
        }
        return true
    }

    private mutating func cancel() -> Bool {
        guard result == nil, !isCancelled else { return false }
        isCancelled = true
        for handler in registered.reversed() where handler.hearsCancel {
            calls.append("\(handler.step) is cancelled")
        }
        return true
    }
}

/// Every sequence of up to `length` events.
func forEverySequence(upTo length: Int, _ body: ([TaskEvent]) -> Void) {
    func extend(_ sequence: [TaskEvent]) {
        body(sequence)
        guard sequence.count < length else { return }
        for event in TaskEvent.allCases { extend(sequence + [event]) }
    }
    extend([])
}
