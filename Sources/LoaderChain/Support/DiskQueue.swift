import Dispatch

/// A thread for calls that wait for a disk, so that they hold up none of Swift's own.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "LoaderChain.disk")

    /// Performs a call after those before it.
    func perform<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
