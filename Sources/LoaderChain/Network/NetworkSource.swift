// Network: whether this machine has a network. It stands on Time, and knows no request.

/// Tells whether there is a network.
///
/// **Which to choose.** ``SystemNetwork/shared`` in a program; `ManualNetwork`, of the testing module, in a test.
///
/// **How to write your own.** Answer ``isAvailable`` at once, and call the closures of ``watch(_:)`` after each change, on any thread and
/// under no lock.
public protocol NetworkSource: AnyObject, Sendable {
    /// Whether there is a network at the moment.
    var isAvailable: Bool { get }

    /// Calls `onChange` with the new state after each change, until the returned watch is cancelled or released.
    func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch
}

extension NetworkSource {
    /// Suspends the current Swift task until there is a network.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func waitUntilAvailable() async throws {
        try Task.checkCancellation()
        guard !isAvailable else { return }
        let seen = Awaited(false)
        let watch = watch { isAvailable in if isAvailable { seen.change { $0 = true } } }
        defer { watch.cancel() }
        // The network may have come before the watch began.
        if isAvailable { return }
        guard await seen.wait(for: { $0 ? true : nil }) != nil else { throw CancellationError() }
    }
}

/// A registration for changes of a network, which ends with ``cancel()`` or with the last reference.
public final class NetworkWatch: Sendable {
    private let onCancel: Locked<(@Sendable () -> Void)?>

    /// Makes a watch that calls `onCancel` once, when it ends.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = Locked(onCancel) }

    deinit { cancel() }

    /// Ends the watch; a call that is on its way may still come.
    public func cancel() { onCancel.withLock { replace(&$0, with: nil) }?() }
}
