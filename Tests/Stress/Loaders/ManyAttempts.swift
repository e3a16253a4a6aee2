import LoaderChain

/// Makes some attempts in parallel, and others when those have ended, until one succeeds or all have failed.
final class ManyAttempts: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        let left = Locked(3)
        for number in 0..<3 {
            var request = task.request
            request.headers["X-Number"] = "\(number)"
            let attempt = task.makeAttempt(number == 0 ? nil : request)
            attempt.addCompletionHandler { [self] result in
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if result.error == nil || task.isCancelled {
                    task.complete(result)
                } else if isLast {
                    let another = task.makeAttempt()
                    another.addCompletionHandler { task.complete($0) }
                    passOn(another)
                }
            }
            super.load(task: attempt)
        }
    }

    private func passOn(_ task: HTTPTask) { super.load(task: task) }
}
