// Watch: the command `watch`. Depends on the folders below the commands; only Program uses it.

import Foundation
import LoaderChain

/// Checks endpoints repeatedly until the limit is reached or a stop is requested.
struct Watch: Sendable {
    private let arguments: WatchArguments
    private let surroundings: Surroundings
    private let terminal: HTTPLoader?

    /// Makes a watch; tests pass their own terminal.
    init(_ arguments: WatchArguments, in surroundings: Surroundings, terminal: HTTPLoader? = nil) {
        self.arguments = arguments
        self.surroundings = surroundings
        self.terminal = terminal
    }

    func run() async throws(ProgramError) -> ProgramStatus {
        let timers = surroundings.timers
        let stores = try MetricStores(arguments.stores, surroundings: surroundings)
        let chain = WatchChain(arguments, sinks: stores.sinks, timers: timers, terminal: terminal)
        let state = Locked(WatchState(arguments.endpoints.map(\.name), at: timers.now))
        let show = WatchShow(arguments, in: surroundings)
        show.begin()
        await watch(chain, state, show)
        await chain.metrics.flush()
        let outcome = await stores.finish(dropped: chain.metrics.dropped)
        let final = state.withLock(\.self)
        let complaints = arguments.conditions.complaints(about: final.endpoints.map(\.measured))
        try show.end(final, outcome, complaints)
        if outcome.isFailure { return .failure }
        if !complaints.isEmpty { return .unhealthy }
        // Conditions on errors say how many checks may fail.
        let mayFail = arguments.conditions.areAboutErrors
        if mayFail ? final.isAllChecked : final.isAllHealthy { return .success }
        // A lost output ends the checks, which says nothing about the endpoints. Its reader may have what it wants.
        guard mayFail || !final.isAnyUnhealthy, let loss = surroundings.output.loss else { return .unhealthy }
        return loss.isUnwanted ? .success : .failure
    }

    /// Checks every endpoint on its own schedule until all are done or a stop is requested.
    private func watch(_ chain: WatchChain, _ state: Locked<WatchState>, _ show: WatchShow) async {
        let timers = surroundings.timers
        let checks = Task {
            await withTaskGroup(of: Void.self) { group in
                for index in arguments.endpoints.indices { group.addTask { await watch(index, chain, state, show) } }
            }
        }
        let watcher = surroundings.stop.cancelling(checks)
        let painter = Task {
            while let interval = show.interval, !Task.isCancelled {
                show.show(state.withLock(\.self), at: timers.now)
                try? await timers.sleep(for: interval)
            }
        }
        await checks.value
        watcher.cancel()
        painter.cancel()
        await painter.value
        // What is left may take a while.
        show.show(state.withLock(\.self), at: timers.now)
    }

    private func watch(_ index: Int, _ chain: WatchChain, _ state: Locked<WatchState>, _ show: WatchShow) async {
        let timers = surroundings.timers
        var schedule = WatchSchedule(every: arguments.interval, count: arguments.count, from: timers.now)
        while case .check(let delay, let missed) = schedule.next(at: timers.now) {
            if missed > 0 { state.withLock { $0.noteMissed(missed, of: index) } }
            guard (try? await timers.sleep(for: delay)) != nil else { return }
            let (verdict, duration, phases) = await check(index, chain)
            let now = timers.now
            let (change, endpoint) = state.withLock { state in
                (state.note(verdict, duration: duration, of: index, at: now), state.endpoints[index])
            }
            show.note(verdict, change, endpoint, phases, at: timers.date)
        }
    }

    private func check(_ index: Int, _ chain: WatchChain) async -> (WatchVerdict, Duration, TransferPhases?) {
        let time = CheckTime()
        var request = arguments.endpoints[index].request
        request.timeout = arguments.timeout
        request[option: CheckTimeOption.self] = time
        // Whoever asks for retries wants them for every method.
        if arguments.retries > 0 { request.isRepeatable = true }
        if arguments.expected.wantsRedirects { request.redirects = .refuse }
        let result = await chain.head.result(of: request)
        let verdict = WatchVerdict(result, expected: arguments.expected)
        return (verdict, time.duration ?? .zero, result.response?.metrics?.phases)
    }
}

private struct WatchChain: Sendable {
    let head: HTTPLoader
    let metrics: MetricRecorder

    init(
        _ arguments: WatchArguments, sinks: [any MetricSink], timers: any Timers, terminal: HTTPLoader? = nil
    ) {
        metrics = MetricRecorder(to: sinks, capacity: MetricStores.capacity, timers: timers)
        let throttle = Throttle(maximumNumberOfRequests: UInt(arguments.concurrency), timers: timers)
        let strategy = Backoff.exponential(delay: 0.2, maximumNumberOfAttempts: 1 + arguments.retries, maximumDelay: 5)
        let retry = Retry(strategy, totalTimeout: arguments.timeout, budget: .unlimited, timers: timers)
        let end = terminal ?? makeTerminal(requestsPerHost: arguments.concurrency, timers: timers)
        head =
            ResetGuard() --> Autocancel() --> MetricsTap(metrics, module: "apihealth") --> throttle
            --> CheckTimer(timers: timers) --> retry --> end
    }
}

/// The duration of one check without the time that it waited in the queue.
private final class CheckTime: Sendable {
    private let time = Locked<Duration?>(nil)

    var duration: Duration? {
        get { time.withLock(\.self) }
        set { time.withLock { $0 = newValue } }
    }
}

/// Where to store the duration of a request; nil by default.
private enum CheckTimeOption: HTTPRequestOption {
    static var defaultOptionValue: CheckTime? { nil }
}

/// Measures requests that have a ``CheckTimeOption``; it stands below the queue.
private final class CheckTimer: HTTPLoader, @unchecked Sendable {
    private let timers: any Timers

    init(timers: any Timers) { self.timers = timers }

    override func load(task: HTTPTask) {
        if let time = task.request[option: CheckTimeOption.self] {
            let start = timers.now
            task.addCompletionHandler { [timers] _ in time.duration = start.duration(to: timers.now) }
        }
        super.load(task: task)
    }
}

/// The schedule of an endpoint's checks: a fixed interval, however long a check takes.
struct WatchSchedule: Sendable {
    private let interval: Duration
    private let count: Int?
    private var due: TimerInstant
    private var checked = 0

    init(every interval: Duration, count: Int?, from start: TimerInstant) {
        self.interval = interval
        self.count = count
        due = start
    }

    enum Step: Hashable, Sendable {
        /// A check after a delay. `missed` checks before it were skipped because the previous one took too long.
        case check(after: Duration, missed: Int)
        case end
    }

    mutating func next(at now: TimerInstant) -> Step {
        if let count, checked >= count { return .end }
        defer { checked += 1 }
        if checked == 0 { return .check(after: max(.zero, now.duration(to: due)), missed: 0) }
        due = due.advanced(by: interval)
        let late = due.duration(to: now)
        guard late > .zero else { return .check(after: .zero - late, missed: 0) }
        // A check that is late by an interval or more is skipped.
        let missed = Int(late / interval)
        due = due.advanced(by: interval * missed)
        return .check(after: .zero, missed: missed)
    }
}
