import BenchmarkSupport
import LoaderChain

/// The cost of a timer for a request that completes in time.
func timerBenchmarks() -> [Benchmark] {
    let suite = Suite()
    for waiting in [10, 100_000] {
        suite.add(
            "timers/cancel-pending-\(waiting)",
            "Schedules a timer and cancels it, like an unused timeout, while \(waiting) others wait.",
            allocations: 1
        ) {
            let timers = SystemTimers()
            for number in 0..<waiting { timers.schedule(after: .seconds(3_600 + number % 600)) {} }
            return { iterations in
                for _ in 0..<iterations { timers.schedule(after: .seconds(30)) {}.cancel() }
            }
        }
    }
    return suite.benchmarks
}
