import LoaderChain

extension ManualTimers {
    /// Advances the time again and again until a task ends, and returns its value.
    ///
    /// A transfer that is waited for may note a moment after the test has seen its last bytes that they have come, and then
    /// begins to wait anew: a single advance could be too early for it.
    package func advance<Success: Sendable, Failure>(
        by duration: Duration, untilEnd task: Task<Success, Failure>
    ) async throws -> Success {
        let hasEnded = Locked(false)
        let watch = Task {
            _ = await task.result
            hasEnded.withLock { $0 = true }
        }
        try await eventually("the task ends by time") {
            advance(by: duration)
            return hasEnded.withLock { $0 }
        }
        await watch.value
        return try await task.value
    }
}
