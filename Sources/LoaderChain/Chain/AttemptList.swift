/// The attempts that work for a task at the moment.
///
/// Weakly held: an attempt that everybody below has let go of must end as abandoned, although the task above remembers
/// it. No weak reference is ever turned into a strong one under the task's lock, because the last release could happen
/// there; attempts are found by number instead.
struct AttemptList {
    // The usual one attempt needs no array.
    private var firstNumber: UInt64?
    private weak var first: HTTPTask?
    private var others: [Entry] = []

    private struct Entry {
        let number: UInt64
        weak var task: HTTPTask?
    }

    mutating func add(_ task: HTTPTask, number: UInt64) {
        if firstNumber == nil {
            firstNumber = number
            first = task
        } else {
            others.append(Entry(number: number, task: task))
        }
    }

    /// Takes an attempt off the list, and answers whether any is left.
    mutating func remove(number: UInt64) -> Bool {
        if firstNumber == number {
            firstNumber = nil
            first = nil
        } else {
            others.removeAll { $0.number == number }
        }
        return firstNumber != nil || !others.isEmpty
    }

    func cancel() {
        first?.cancel()
        for entry in others { entry.task?.cancel() }
    }
}
