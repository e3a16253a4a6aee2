import LoaderChainPlatformC

/// The processor time of this thread.
enum ProcessorTime {
    /// Nanoseconds since the thread began.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
