/// The attempts that work for a task at the moment.
///
/// Weakly held: an attempt that everybody below has let go of must end as abandoned, although the task above remembers
/// it. No weak reference is ever turned into a strong one under the task's lock, because the last release could happen
/// there; attempts are found by number instead.
struct AttemptList {
    private struct Entry {
        let number: UInt64
        weak var task: HTTPTask?
    }

    private var latest: Entry?
    private var others: [Entry] = []

    var isEmpty: Bool { latest == nil && others.isEmpty }

    mutating func add(_ task: HTTPTask, number: UInt64) {
        if let latest { others.append(latest) }
        latest = Entry(number: number, task: task)
    }

    mutating func remove(number: UInt64) {
        if latest?.number == number {
            latest = nil
        } else {
            others.removeAll { $0.number == number }
        }
    }

    func cancel() {
        for entry in others { entry.task?.cancel() }
        latest?.task?.cancel()
    }
}
