#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A thread with a small stack.
enum Thread {
    /// The size that secondary threads have on Apple systems.
    ///
    /// A sanitizer needs more for the same calls, so a run under one says how much.
    static let secondaryStackSize: Int = {
        let kilobytes = getenv("TEST_STACK_KILOBYTES").flatMap { Int(String(cString: $0)) } ?? 512
        return kilobytes * 1024
    }()

    /// Runs `body` on a new thread, which ends with it.
    static func start(_ body: @escaping @Sendable () -> Void) {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, secondaryStackSize)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let error = pthread_create(
                &thread, &attributes,
                { box in
                    Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body()
                    return nil
                }, box)
        #else
            var thread = pthread_t()
            let error = pthread_create(
                &thread, &attributes,
                { box in
                    box.map { Unmanaged<Box>.fromOpaque($0).takeRetainedValue().body() }
                    return nil
                }, box)
        #endif
        precondition(error == 0, "a test could not start a thread: \(error)")
        pthread_attr_destroy(&attributes)
    }
}
