#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Tells handlers of a result, with a stack that does not grow with what they do.
///
/// A handler may complete another task, whose handler completes a third, and so on for as many tasks as wait in a queue.
/// Such deliveries nest to a small depth, so that in ordinary code everything has happened when `complete` returns.
/// Deeper ones are put in line on their thread, and run when the outermost delivery has done its own part.
struct Delivery {
    private let task: HTTPTask
    private let result: HTTPResult
    private let handlers: HandlerStack

    /// How deep deliveries nest before they queue.
    static let greatestDepth = 8

    /// Tells `handlers` now, or after the deliveries that are under way on this thread.
    @inline(__always)
    static func tell(_ handlers: consuming HandlerStack, of task: HTTPTask, _ result: HTTPResult) {
        let line = Line.ofThisThread
        guard line.pointee.depth < greatestDepth else {
            line.pointee.waiting.append(Delivery(task: task, result: result, handlers: handlers))
            return
        }
        line.pointee.depth += 1
        while let handler = handlers.pop() { handler.hear(completionOf: task, result) }
        if line.pointee.depth == 1, !line.pointee.waiting.isEmpty { drain(line) }
        line.pointee.depth -= 1
    }

    /// Tells one handler that came late.
    static func tell(_ handler: TaskHandler, of task: HTTPTask, _ result: HTTPResult) {
        var handlers = HandlerStack()
        handlers.push(handler)
        tell(handlers, of: task, result)
    }

    @inline(never)
    private static func drain(_ line: UnsafeMutablePointer<Line>) {
        while !line.pointee.waiting.isEmpty {
            // Deliveries that are put in line meanwhile form the next round.
            let round = exchange(&line.pointee.waiting, with: [])
            for delivery in round {
                var handlers = delivery.handlers
                while let handler = handlers.pop() { handler.hear(completionOf: delivery.task, delivery.result) }
            }
        }
    }

    /// The deliveries of one thread.
    private struct Line {
        var depth = 0
        var waiting: [Delivery] = []

        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            let error = pthread_key_create(&key) { line in
                #if canImport(Darwin)
                    line.assumingMemoryBound(to: Line.self).deinitialize(count: 1).deallocate()
                #else
                    line?.assumingMemoryBound(to: Line.self).deinitialize(count: 1).deallocate()
                #endif
            }
            // The system has more than a thousand keys, and a process that has used them up cannot go on in any way.
            precondition(error == 0, "LoaderChain needs one thread-local key, and the system has none left")
            return key
        }()

        static var ofThisThread: UnsafeMutablePointer<Line> {
            @inline(__always) get {
                if let line = pthread_getspecific(key) { return line.assumingMemoryBound(to: Line.self) }
                return makeForThisThread()
            }
        }

        @inline(never)
        private static func makeForThisThread() -> UnsafeMutablePointer<Line> {
            let line = UnsafeMutablePointer<Line>.allocate(capacity: 1)
            line.initialize(to: Line())
            pthread_setspecific(key, line)
            return line
        }
    }
}
