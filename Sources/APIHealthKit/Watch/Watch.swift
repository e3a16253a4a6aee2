import LoaderChain
import LoaderChainURLSession

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
        let chain = WatchChain(arguments, sink: stores.sink, timers: timers, terminal: terminal)
        let state = Locked(WatchState(arguments.endpoints.map(\.name), at: timers.now))
        let show = WatchShow(arguments, in: surroundings)
        show.begin()
        await watch(chain, state, show)
        await chain.metrics.flush()
        let outcome = await stores.finish(dropped: chain.metrics.dropped)
        let final = state.withLock(\.self)
        try show.end(final, outcome)
        if outcome.isFailure { return .failure }
        if final.isAllHealthy { return .success }
        // A lost output ends the checks, which says nothing about the endpoints. Its reader may have what it wants.
        guard !final.isAnyUnhealthy, let loss = surroundings.output.loss else { return .unhealthy }
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
        let watcher = Task {
            await surroundings.stop.wait()
            checks.cancel()
        }
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
    }

    private func watch(_ index: Int, _ chain: WatchChain, _ state: Locked<WatchState>, _ show: WatchShow) async {
        let timers = surroundings.timers
        var schedule = WatchSchedule(every: arguments.interval, count: arguments.count, from: timers.now)
        while case .check(let delay, let missed) = schedule.next(at: timers.now) {
            if missed > 0 { state.withLock { $0.noteMissed(missed, of: index) } }
            guard (try? await timers.sleep(for: delay)) != nil else { return }
            let (verdict, duration) = await check(index, chain)
            let now = timers.now
            let (change, endpoint) = state.withLock { state in
                (state.note(verdict, duration: duration, of: index, at: now), state.endpoints[index])
            }
            show.note(verdict, change, endpoint, at: timers.date)
        }
    }

    private func check(_ index: Int, _ chain: WatchChain) async -> (WatchVerdict, Duration) {
        let time = CheckTime()
        var request = arguments.endpoints[index].request
        request.timeout = arguments.timeout
        request[option: CheckTimeOption.self] = time
        if arguments.expected.wantsRedirects { request.redirects = .refuse }
        let result: HTTPResult
        do throws(HTTPError) { result = .success(try await chain.head.load(request)) } catch {
            result = .failure(error)
        }
        return (WatchVerdict(result, expected: arguments.expected), time.duration ?? .zero)
    }
}
