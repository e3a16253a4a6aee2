import LoaderChainPlatformC

/// A thread of the system; it must be joined or detached, once.
package struct SystemThread: @unchecked Sendable {
    // Unchecked because the handle is a pointer on some systems. It is only handed back to the system.
    private let handle: pthread_t

    /// The stack size of secondary threads on Apple systems, so that no test uses more elsewhere.
    package static let usualStackSize = 512 << 10

    package init(stackSize: Int = usualStackSize, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let work = Unmanaged.passRetained(Work(body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        var created: pthread_t?
        let code = Self.create(&created, &attributes, work.toOpaque())
        guard code == 0, let created else {
            work.release()
            throw SystemError("pthread_create", code: code)
        }
        handle = created
    }

    package func join() { pthread_join(handle, nil) }

    package func detach() { pthread_detach(handle) }

    /// Lets other threads run that are waiting for a processor.
    package static func yield() { sched_yield() }

    /// A number that no other living thread has.
    package static var currentNumber: UInt {
        #if canImport(Darwin) || canImport(Musl)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
            return nil
        }
    }

    private static func create(
        _ thread: inout pthread_t?, _ attributes: inout pthread_attr_t, _ work: UnsafeMutableRawPointer
    ) -> Int32 {
        #if canImport(Darwin)
            return pthread_create(&thread, &attributes, { Work.run($0) }, work)
        #else
            var created = pthread_t()
            let code = pthread_create(&created, &attributes, { Work.run($0) }, work)
            thread = created
            return code
        #endif
    }
}

package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    package let call: String
    /// The value of `errno` after it.
    package let code: Int32

    /// Records the error of a call that has just failed, from `errno` unless the call returned its code.
    package init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call) failed with error \(code)" }
}
