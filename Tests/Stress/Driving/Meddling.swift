import LoaderChain

/// What any thread may do to any task, whichever loader owns it.
enum Meddling {
    static func meddle(with task: HTTPTask, _ random: inout SeededGenerator, _ ledger: Ledger, rewrites: Bool) {
        let chance = random.next()
        switch chance % 16 {
        case 0, 1: task.cancel()
        case 2...5 where !rewrites: read(task.request, ledger)
        case 2, 3: task.request = HTTPRequest(host: "stress.test", path: "/rewritten/\(chance % 97)")
        case 4, 5: task.request.headers["X-Rewritten"] = "\(chance)"
        case 6, 7: read(task.request, ledger)
        case 8: if task.description.isEmpty { ledger.fail("a task has no description") }
        case 9:
            let kept = Ledger.Keepsake(ledger)
            task.addCompletionHandler { (_: HTTPResult) in kept.use() }
        case 10:
            let kept = Ledger.Keepsake(ledger)
            task.addCancelHandler { (task: HTTPTask) in
                kept.use()
                read(task.request, ledger)
            }
        case 11:
            let kept = Ledger.Keepsake(ledger)
            task.addCancelHandler { (task: HTTPTask) in
                kept.use()
                task.fail(.cancelled, reason: "A handler gave it up")
            }
        case 12:
            let kept = Ledger.Keepsake(ledger)
            task.addResultFilter { result in
                kept.use()
                return result
            }
        case 13:
            let attempt = task.makeAttempt()
            attempt.request.headers["X-Attempt"] = "1"
            if chance & 16 == 0 { attempt.cancel() }
        case 14: task.fail(.unknown, reason: "Something else gave it up")
        default: if task.isCancelled && !task.isCompleted { read(task.request, ledger) }
        }
    }

    /// Reads everything that a request refers to.
    static func read(_ request: HTTPRequest, _ ledger: Ledger) {
        let length =
            request.path.utf8.count + (request.host?.utf8.count ?? 0)
            + request.headers.reduce(0) { $0 + $1.value.utf8.count }
        if length == 0 { ledger.fail("a request is empty") }
    }
}
