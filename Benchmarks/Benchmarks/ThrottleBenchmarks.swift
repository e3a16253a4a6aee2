import BenchmarkSupport
import LoaderChain

let waitingTaskCounts = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
let threadCounts = [1, 2, 4, 8, 16]

/// The cost of a throttle, beyond that of a loader that passes everything on.
func throttleBenchmarks() -> [Benchmark] {
    let suite = Suite()

    suite.add(
        .slope(
            "throttle/uncontended", "A task that starts at once and completes: what a throttle adds to a plain loader.",
            peer: "peer/semaphore", limit: .nanoseconds(70), allocations: 0,
            small: (0, atOnce { PassingLoader() }), large: (1, atOnce { Throttle(maximumNumberOfRequests: 4) })))
    for count in waitingTaskCounts {
        suite.add(
            .slope(
                "throttle/pending-\(count)",
                "A task that waits behind \(count) others: what a throttle adds to a terminal that holds as many.",
                peer: count > 1 ? "throttle/pending-1" : nil, limit: .nanoseconds(140), allocations: 1,
                ratio: count > 1 ? 1.5 : nil,
                small: (0, waiting(behind: count) { PassingLoader() }),
                large: (1, waiting(behind: count) { Throttle(maximumNumberOfRequests: 1) })))
    }

    for count in [1, 1_000_000] {
        suite.add(
            .slope(
                "throttle/deadline-\(count)",
                "A task that waits behind \(count) others, all with a deadline: what a throttle adds to a terminal.",
                peer: count > 1 ? "throttle/deadline-1" : "throttle/pending-1", limit: .nanoseconds(700),
                allocations: 2, ratio: count > 1 ? 1.5 : nil,
                small: (0, waiting(behind: count, within: .seconds(3_600)) { PassingLoader() }),
                large: (1, waiting(behind: count, within: .seconds(3_600)) { Throttle(maximumNumberOfRequests: 1) })))
    }

    for count in [10, 1_000_000] {
        suite.add(
            .slope(
                "throttle/cancel-pending-\(count)",
                "Cancels any one of \(count) waiting tasks and loads another: what a throttle adds to a terminal.",
                limit: .nanoseconds(250), allocations: 1,
                small: (0, cancelling(among: count) { PassingLoader() }),
                large: (1, cancelling(among: count) { Throttle(maximumNumberOfRequests: 0) })))
    }

    suite.add(
        "throttle/threads-1", "Makes a task, loads it through a throttle, and completes it at once.", allocations: 2
    ) { loading(threads: 1, Throttle(maximumNumberOfRequests: 4)) }
    // With more threads than slots, some tasks wait by chance, and a waiting task makes one more allocation.
    let slots = 4
    for threads in threadCounts.dropFirst() {
        suite.add(
            "throttle/threads-\(threads)",
            "The same on \(threads) threads with one throttle; the wall time for each task of all threads.",
            peer: "throttle/threads-1", allocations: threads > slots ? nil : 1, ratio: 3
        ) { loading(threads: threads, Throttle(maximumNumberOfRequests: UInt(slots))) }
    }

    suite.add(
        .slope(
            "throttle/per-host", "A task that starts at once, among those of eight busy hosts, with a limit per host.",
            allocations: 1,
            small: (0, atOnce(hosts: 8) { PassingLoader() }),
            large: (1, atOnce(hosts: 8) { Throttle(maximumNumberOfRequests: 64, perHost: 4) })))
    suite.add(
        .slope(
            "throttle/adaptive", "A task that starts at once: what an adaptive limit adds to a throttle.",
            limit: .nanoseconds(60), allocations: 0,
            small: (0, atOnce { Throttle(maximumNumberOfRequests: 1_000) }),
            large: (1, atOnce { Throttle(limit: .adaptive()) })))
    return suite.benchmarks
}
