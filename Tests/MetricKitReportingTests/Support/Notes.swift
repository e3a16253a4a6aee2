import LoaderChain

/// Records values for a test.
final class Notes<Note: Sendable>: Sendable {
    private let notes = Locked<[Note]>([])

    func add(_ note: Note) { notes.withLock { $0.append(note) } }

    var all: [Note] { notes.withLock { $0 } }
}

/// Work that runs when the test calls it.
final class LaterWork: Sendable {
    private let waiting = Locked<[@Sendable () -> Void]>([])

    func add(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    var count: Int { waiting.withLock { $0.count } }

    func doAll() {
        for work in waiting.withLock({ replace(&$0, with: []) }) { work() }
    }
}
