import LoaderChain

/// Makes two attempts at once; the first result wins.
final class Hedge: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        for _ in 0..<2 {
            let attempt = task.makeAttempt()
            attempt.addCompletionHandler { result in task.complete(result) }
            super.load(task: attempt)
        }
    }
}
