/// The attempts that work for a task at the moment.
///
/// Weakly held: an attempt that everybody below has let go of must end as abandoned, although the task above remembers
/// it. No weak reference is ever turned into a strong one under the task's lock, because the last release could happen
/// there; attempts are found by number instead.
struct AttemptList {
    // The usual one attempt lies here by parts, so that asking whether there is any touches no weak reference.
    private var firstNumber: UInt64?
    private weak var first: HTTPTask?
    private var others: [Entry] = []

    private struct Entry {
        let number: UInt64
        weak var task: HTTPTask?
    }

    var isEmpty: Bool { firstNumber == nil && others.isEmpty }

    mutating func add(_ task: HTTPTask, number: UInt64) {
        if firstNumber == nil {
            firstNumber = number
            first = task
        } else {
            others.append(Entry(number: number, task: task))
        }
    }

    mutating func remove(number: UInt64) {
        if firstNumber == number {
            firstNumber = nil
            first = nil
        } else {
            others.removeAll { $0.number == number }
        }
    }

    func cancel() {
        first?.cancel()
        for entry in others { entry.task?.cancel() }
    }
}
