// Demo: the command `demo`. Depends on the folders below the commands; only Program uses it.

import Foundation
import LoaderChain

/// Runs a chain against a demo API and shows both at work.
struct Demo: Sendable {
    private let arguments: DemoArguments
    private let surroundings: Surroundings
    private let traffic: DemoTraffic

    init(_ arguments: DemoArguments, in surroundings: Surroundings) {
        self.init(
            arguments, in: surroundings, traffic: DemoTraffic(seed: arguments.seed, duration: arguments.duration))
    }

    init(_ arguments: DemoArguments, in surroundings: Surroundings, traffic: DemoTraffic) {
        self.arguments = arguments
        self.surroundings = surroundings
        self.traffic = traffic
    }

    func run() async throws(ProgramError) -> ProgramStatus {
        let timers = surroundings.timers
        let stores = try MetricStores(
            arguments.stores, otherwise: Self.temporaryFile(at: timers.date), surroundings: surroundings)
        let settings = DemoSettings()
        let server = try DemoServer(
            seed: arguments.seed, settings: settings, outage: arguments.duration * 0.65, timers: timers)
        defer { server.stop() }
        let chain = DemoChain(
            port: server.port, seed: arguments.seed, sinks: stores.sinks, patience: arguments.patience, timers: timers)
        let run = Locked(DemoRun(address: "127.0.0.1:\(server.port)", duration: arguments.duration))
        let show = DemoShow(arguments.form, in: surroundings, settings)
        show.begin(chain)
        await drive(chain, run, show)
        await chain.requests.flush()
        let outcome = await stores.finish(dropped: chain.requests.dropped)
        let final = run.withLock(\.self)
        let snapshot = chain.snapshot(final)
        let complaints = arguments.conditions.complaints(about: snapshot.rows.map(\.measured))
        try show.end(snapshot, final, seed: arguments.seed, outcome, complaints)
        return outcome.isFailure ? .failure : complaints.isEmpty ? .success : .unhealthy
    }

    /// Makes the requests and shows their progress.
    private func drive(_ chain: DemoChain, _ run: Locked<DemoRun>, _ show: DemoShow) async {
        let timers = surroundings.timers
        let start = timers.now
        @Sendable func tick() -> DemoSnapshot {
            let ended = chain.ledger.counts.ended
            let now = run.withLock { run in
                run.note(elapsed: min(start.duration(to: timers.now), run.duration + arguments.patience), ended: ended)
                return run
            }
            return chain.snapshot(now)
        }
        let painter = Task {
            // Once in any case, however late this begins.
            repeat {
                show.show(tick())
                try? await timers.sleep(for: show.interval)
            } while !Task.isCancelled
        }
        let following = Task { await chain.settings.run() }
        await withTaskGroup(of: Void.self) { group in
            // A request to stop cuts the sleep between two calls short.
            let calls = Task { await make(traffic.calls, from: start, chain, run) }
            let watcher = surroundings.stop.cancelling(calls)
            let sent = await calls.value
            watcher.cancel()
            for task in sent { group.addTask { await task.value } }
            let reset = Task { await resetInTheEnd(chain, run) }
            await group.waitForAll()
            reset.cancel()
            await reset.value
        }
        for task in [painter, following] {
            task.cancel()
            await task.value
        }
        // What is left may take a while.
        show.showEnding(tick())
    }

    /// Starts each request at its time and returns the running tasks.
    private func make(
        _ calls: [DemoTraffic.Call], from start: TimerInstant, _ chain: DemoChain, _ run: Locked<DemoRun>
    ) async -> [Task<Void, Never>] {
        let timers = surroundings.timers
        var sent: [Task<Void, Never>] = []
        for call in calls {
            let wait = timers.now.duration(to: start.advanced(by: call.time))
            guard !surroundings.stop.isRequested, (try? await timers.sleep(for: wait)) != nil else { break }
            run.withLock { $0.start(call) }
            // It is in the chain before anybody resets that.
            let isOver = Awaited(false)
            chain.head.load(request: call.request) { _ in isOver.change { $0 = true } }
            sent.append(Task { await isOver.wait { $0 } })
        }
        return sent
    }

    /// Resets the chain when the requests have had their time, or immediately on a request to stop.
    private func resetInTheEnd(_ chain: DemoChain, _ run: Locked<DemoRun>) async {
        let timers = surroundings.timers
        let grace = Task { try? await timers.sleep(for: arguments.patience) }
        let watcher = surroundings.stop.cancelling(grace)
        await withTaskCancellationHandler {
            await grace.value
        } onCancel: {
            grace.cancel()
        }
        watcher.cancel()
        guard !Task.isCancelled else { return }
        let left =
            run.withLock { run in
                run.isReset = true
                return run.started
            } - chain.ledger.counts.ended
        await chain.head.reset()
        run.withLock { run in
            run.isReset = false
            run.cancelled = left
        }
    }

    private static func temporaryFile(at date: Date) -> String {
        let stamp = date.formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
        let name = "apihealth-\(stamp)-\(UInt64.random(in: 0 ... .max)).lp"
        return FileManager.default.temporaryDirectory.appending(path: name).path(percentEncoded: false)
    }
}

struct DemoRun: Sendable {
    let address: String
    let duration: Duration
    var elapsed: Duration = .zero
    var started = 0
    /// How many requests had no host of their own.
    var environmentCount = 0
    /// How many requests the final reset cancelled.
    var cancelled = 0
    var isReset = false
    /// The number of ended requests at the end of each half second.
    private var ended: [Int] = []

    init(address: String, duration: Duration) {
        self.address = address
        self.duration = duration
    }

    private static var shown: Int { 24 }

    /// The number of requests that ended in each of the last half seconds.
    var pace: [Int] {
        zip(ended, ended.dropFirst()).map { $1 - $0 }.suffix(Self.shown)
    }

    mutating func note(elapsed: Duration, ended count: Int) {
        self.elapsed = elapsed
        let halves = Int(elapsed / .milliseconds(500))
        while ended.count <= halves, ended.count < 8_000 { ended.append(count) }
    }

    mutating func start(_ call: DemoTraffic.Call) {
        started += 1
        if call.endpoint.host == nil { environmentCount += 1 }
    }
}

struct DemoArguments: Sendable {
    var duration: Duration = .seconds(10)
    var seed: UInt64 = 1
    /// Where the metrics go; a new temporary file if no store is named.
    var stores = StoreArguments()
    var conditions = FailConditions()
    var form = OutputForm.screen
    /// How long to wait after the last request before the chain is reset; a single request may take twice as long.
    var patience: Duration = .seconds(3)

    init() {}

    static let syntax = Syntax(
        command: "demo", summary: "Runs a demo API and a chain against it, and shows both at work.",
        options: [
            .init("seconds", "N", "How long to make requests, 1 to 3600; 10 by default."),
            .init("seed", "N", "The seed of traffic and faults; 1 by default."),
            FailConditions.option,
            .init("plain", "Print lines, even on a terminal."),
            .init("json", "Print one JSON object at the end."),
            .init("version", "Print the version."),
        ] + StoreArguments.options,
        notes: ["Without --file and --influx, the metrics go to a new temporary file."])

    init(_ list: ArgumentList) throws(ProgramError) {
        if let seconds = try list.integer("seconds", in: 1...3_600) { duration = .seconds(seconds) }
        if let text = list.text("seed") {
            guard let number = UInt64(text) else { throw list.wrong("seed", text, "a whole number from 0 on") }
            seed = number
        }
        stores = try StoreArguments(list)
        conditions = try FailConditions(list)
        form = try OutputForm(list)
    }
}
