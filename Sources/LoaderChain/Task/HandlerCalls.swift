import LoaderChainPlatformC

/// The calls to handlers that are under way on one thread, and those that wait until its stack is flat again.
///
/// A handler may complete another task, whose handler loads a third, and so on for every task that waits in a queue.
/// Such calls nest while the stack is shallow, so that in ordinary code everything has happened when a call returns.
/// Deeper calls wait, and are made when the outermost call has done its own part.
///
/// Each thread has one object of this type, which no other thread sees.
final class HandlerCalls {
    private enum Pending {
        case completion(HTTPTask, HTTPResult, HandlerStack)
        case cancel(HTTPTask, HandlerStack, reachesAttempts: Bool)
    }

    private static let greatestDepth = 32
    private static let greatestExtent: UInt = 48 << 10

    private var depth = 0
    private var outermostAddress: UInt = 0
    /// The number of cancels that are being delivered; completions wait for them.
    private var cancels = 0
    private var pending: [Pending] = []
    /// The objects that wait to be released after the object that is being released; nil while none is.
    private var released: [Unmanaged<AnyObject>]?

    private init() {}

    // MARK: Nesting

    /// Runs `body`, and then the calls that wait, if this is the outermost call of the thread.
    @inline(__always)
    static func enter(_ body: () -> Void) {
        let calls = ofThisThread
        calls.goIn()
        body()
        calls.goOut()
    }

    @inline(__always)
    private func goIn() {
        if depth == 0 { outermostAddress = Self.stackAddress }
        depth += 1
    }

    @inline(__always)
    private func goOut() {
        if depth == 1, !pending.isEmpty { callPending() }
        depth -= 1
    }

    /// Whether another call may nest here; stacks grow downwards, and a wrong guess only makes a call wait.
    @inline(__always)
    private var isShallow: Bool {
        depth == 0 || (depth < Self.greatestDepth && outermostAddress &- Self.stackAddress < Self.greatestExtent)
    }

    /// The address of the stack's end, which is compared and never dereferenced.
    @inline(__always)
    private static var stackAddress: UInt {
        var marker: UInt8 = 0
        return withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
    }

    // MARK: Calling handlers

    /// Pops `handlers` and calls them with a result: now, or when the stack is flat and all cancels have been delivered.
    @inline(__always)
    static func notify(_ handlers: inout HandlerStack, of task: HTTPTask, _ result: HTTPResult) {
        let calls = ofThisThread
        guard calls.isShallow, calls.cancels == 0 else {
            calls.pending.append(.completion(task, result, handlers))
            return
        }
        calls.goIn()
        while let handler = handlers.pop() { handler.call(completionOf: task, result) }
        calls.goOut()
    }

    /// Pops `handlers`, calls them with a cancel, and cancels the attempts: now, or when the stack is flat.
    ///
    /// One of the handlers will complete the task. The completion is delivered after all of them have been called.
    static func notify(_ handlers: inout HandlerStack, ofCancelOf task: HTTPTask, reachesAttempts: Bool) {
        let calls = ofThisThread
        guard calls.isShallow else {
            calls.pending.append(.cancel(task, handlers, reachesAttempts: reachesAttempts))
            return
        }
        calls.goIn()
        calls.perform(&handlers, ofCancelOf: task, reachesAttempts: reachesAttempts)
        if calls.cancels == 0, !calls.pending.isEmpty { calls.callPending() }
        calls.goOut()
    }

    private func perform(_ handlers: inout HandlerStack, ofCancelOf task: HTTPTask, reachesAttempts: Bool) {
        cancels += 1
        if reachesAttempts { task.core.cancelAttempts() }
        while let handler = handlers.pop() { handler.call(cancelOf: task) }
        cancels -= 1
    }

    @inline(never)
    private func callPending() {
        while !pending.isEmpty {
            // Calls that are added meanwhile form the next round.
            for call in replace(&pending, with: []) {
                switch call {
                case .completion(let task, let result, var handlers):
                    while let handler = handlers.pop() { handler.call(completionOf: task, result) }
                case .cancel(let task, var handlers, let reachesAttempts):
                    perform(&handlers, ofCancelOf: task, reachesAttempts: reachesAttempts)
                }
            }
        }
    }

    // MARK: Releasing

    /// Releases what an object held when it ended, such as the next loader of a chain, without nesting one release in another.
    ///
    /// The stack would grow with the length of the chain otherwise. The references are unmanaged to fix the moment of
    /// each release: the optimizer may end a variable after its last use, which would be before the array is there for
    /// the next object to join.
    static func release(_ object: Unmanaged<AnyObject>) {
        let calls = ofThisThread
        guard calls.released == nil else {
            calls.released?.append(object)
            return
        }
        calls.released = [object]
        // The end of one object may add the next.
        while let next = calls.released?.popLast() { next.release() }
        calls.released = nil
    }

    // MARK: One for each thread

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let error = pthread_key_create(&key) { calls in
            #if canImport(Darwin)
                Unmanaged<HandlerCalls>.fromOpaque(calls).release()
            #else
                if let calls { Unmanaged<HandlerCalls>.fromOpaque(calls).release() }
            #endif
        }
        // The system has more than a thousand keys; a process that has used them up cannot continue in any way.
        precondition(error == 0, "LoaderChain needs one thread-local key, and the system has none left")
        return key
    }()

    /// The object of this thread, which the system holds while the thread lives: Swift has no thread-local storage.
    private static var ofThisThread: HandlerCalls {
        @inline(__always) get {
            if let calls = pthread_getspecific(key) { return Unmanaged.fromOpaque(calls).takeUnretainedValue() }
            return makeForThisThread()
        }
    }

    @inline(never)
    private static func makeForThisThread() -> HandlerCalls {
        let calls = HandlerCalls()
        pthread_setspecific(key, Unmanaged.passRetained(calls).toOpaque())
        return calls
    }
}
