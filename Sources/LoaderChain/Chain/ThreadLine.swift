#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What one thread has under way, and what waits until the stack is flat again.
///
/// A handler may complete another task, whose handler loads a third, and so on for as many tasks as wait in a queue. Such
/// calls nest as long as the stack stays shallow, so that in ordinary code everything has happened when a call returns.
/// Beyond that they wait in line, and run when the outermost call has done its own part.
struct ThreadLine {
    /// Something that tells handlers.
    enum Work {
        case completion(HTTPTask, HTTPResult, HandlerStack)
        case cancel(HTTPTask, HandlerStack, reachesAttempts: Bool)
    }

    private static let greatestDepth = 32
    private static let greatestExtent: UInt = 48 << 10

    private var depth = 0
    private var outermostAddress: UInt = 0
    /// How many cancels are being told at the moment, which completions wait for.
    private var cancels = 0
    private var waiting: [Work] = []
    /// The loaders that are let go of one after the other, while one is.
    private var released: [Unmanaged<HTTPLoader>]?

    // MARK: Nesting

    /// Runs `body`, and then what it has put in line, if this is the outermost such call of the thread.
    @inline(__always)
    static func enter(_ body: () -> Void) {
        let line = ofThisThread
        line.pointee.goIn()
        body()
        line.pointee.goOut(line)
    }

    @inline(__always)
    private mutating func goIn() {
        if depth == 0 { outermostAddress = Self.stackAddress }
        depth += 1
    }

    @inline(__always)
    private mutating func goOut(_ line: UnsafeMutablePointer<ThreadLine>) {
        if depth == 1, !waiting.isEmpty { Self.drain(line) }
        depth -= 1
    }

    /// Whether another call may nest here.
    ///
    /// Stacks grow downwards; a wrong guess only makes something wait.
    @inline(__always)
    private var isShallow: Bool {
        depth == 0 || (depth < Self.greatestDepth && outermostAddress &- Self.stackAddress < Self.greatestExtent)
    }

    @inline(__always)
    private static var stackAddress: UInt {
        var marker: UInt8 = 0
        return withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
    }

    // MARK: Telling handlers

    /// Tells `handlers` of a result: now, or when the stack is flat and the cancels that are under way have been told.
    @inline(__always)
    static func tell(_ handlers: consuming HandlerStack, of task: HTTPTask, _ result: HTTPResult) {
        let line = ofThisThread
        guard line.pointee.isShallow, line.pointee.cancels == 0 else {
            line.pointee.waiting.append(.completion(task, result, handlers))
            return
        }
        line.pointee.goIn()
        while let handler = handlers.pop() { handler.hear(completionOf: task, result) }
        line.pointee.goOut(line)
    }

    /// Tells `handlers` of a cancel, and the attempts too: now, or when the stack is flat.
    ///
    /// One of them will complete the task. Nobody hears of that before all have heard of the cancel.
    static func tell(_ handlers: consuming HandlerStack, ofCancelOf task: HTTPTask, reachesAttempts: Bool) {
        let line = ofThisThread
        guard line.pointee.isShallow else {
            line.pointee.waiting.append(.cancel(task, handlers, reachesAttempts: reachesAttempts))
            return
        }
        line.pointee.goIn()
        perform(handlers, ofCancelOf: task, reachesAttempts: reachesAttempts, line)
        if line.pointee.cancels == 0, !line.pointee.waiting.isEmpty { drain(line) }
        line.pointee.goOut(line)
    }

    private static func perform(
        _ handlers: consuming HandlerStack, ofCancelOf task: HTTPTask, reachesAttempts: Bool,
        _ line: UnsafeMutablePointer<ThreadLine>
    ) {
        line.pointee.cancels += 1
        if reachesAttempts { task.cancelAttempts() }
        while let handler = handlers.pop() { handler.hear(cancelOf: task) }
        line.pointee.cancels -= 1
    }

    @inline(never)
    private static func drain(_ line: UnsafeMutablePointer<ThreadLine>) {
        while !line.pointee.waiting.isEmpty {
            // What is put in line meanwhile forms the next round.
            for work in exchange(&line.pointee.waiting, with: []) {
                switch work {
                case .completion(let task, let result, var handlers):
                    while let handler = handlers.pop() { handler.hear(completionOf: task, result) }
                case .cancel(let task, let handlers, let reachesAttempts):
                    perform(handlers, ofCancelOf: task, reachesAttempts: reachesAttempts, line)
                }
            }
        }
    }

    // MARK: Letting go

    /// Lets go of the loader after one that has just ended, without a call inside the last for each of a long chain.
    static func letGo(of loader: Unmanaged<HTTPLoader>) {
        let line = ofThisThread
        guard line.pointee.released == nil else {
            line.pointee.released?.append(loader)
            return
        }
        line.pointee.released = [loader]
        while let next = line.pointee.released?.popLast() { next.release() }
        line.pointee.released = nil
    }

    // MARK: One for each thread

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let error = pthread_key_create(&key) { line in
            #if canImport(Darwin)
                line.assumingMemoryBound(to: ThreadLine.self).deinitialize(count: 1).deallocate()
            #else
                line?.assumingMemoryBound(to: ThreadLine.self).deinitialize(count: 1).deallocate()
            #endif
        }
        // The system has more than a thousand keys, and a process that has used them up cannot go on in any way.
        precondition(error == 0, "LoaderChain needs one thread-local key, and the system has none left")
        return key
    }()

    private static var ofThisThread: UnsafeMutablePointer<ThreadLine> {
        @inline(__always) get {
            if let line = pthread_getspecific(key) { return line.assumingMemoryBound(to: ThreadLine.self) }
            return makeForThisThread()
        }
    }

    @inline(never)
    private static func makeForThisThread() -> UnsafeMutablePointer<ThreadLine> {
        let line = UnsafeMutablePointer<ThreadLine>.allocate(capacity: 1)
        line.initialize(to: ThreadLine())
        pthread_setspecific(key, line)
        return line
    }
}
