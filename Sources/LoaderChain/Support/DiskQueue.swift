import Dispatch

/// A thread for calls that wait for a disk, so that they hold up none of Swift's own.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "LoaderChain.disk")

    /// Performs a call after those before it, in the order in which an actor makes them.
    func perform<Value: Sendable, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
