// Demo: the command `demo`. Depends on the folders below the commands. Program uses it, and Watch its latencies as
// JSON.

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
        let server = try DemoServer(seed: arguments.seed, outage: arguments.duration * 0.65, timers: timers)
        defer { server.stop() }
        let chain = DemoChain(
            port: server.port, seed: arguments.seed, sink: stores.sink, patience: arguments.patience, timers: timers)
        let run = Locked(DemoRun(address: "127.0.0.1:\(server.port)", duration: arguments.duration))
        let show = DemoShow(arguments.form, in: surroundings)
        show.begin(chain)
        await drive(chain, run, show)
        await chain.requests.flush()
        let outcome = await stores.finish(dropped: chain.requests.dropped)
        let final = run.withLock(\.self)
        try show.end(chain.snapshot(final), final, seed: arguments.seed, outcome)
        return outcome.isFailure ? .failure : .success
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
        await withTaskGroup(of: Void.self) { group in
            // A request to stop cuts the sleep between two calls short.
            let calls = Task { await make(traffic.calls, from: start, chain, run) }
            let watcher = Task {
                await surroundings.stop.wait()
                calls.cancel()
            }
            let sent = await calls.value
            watcher.cancel()
            for task in sent { group.addTask { await task.value } }
            let reset = Task { await resetInTheEnd(chain, run) }
            await group.waitForAll()
            reset.cancel()
            await reset.value
        }
        painter.cancel()
        await painter.value
        _ = tick()
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
        let stop = surroundings.stop
        let timers = surroundings.timers
        let grace = Task { try? await timers.sleep(for: arguments.patience) }
        let watcher = Task {
            await stop.wait()
            grace.cancel()
        }
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

    /// The path of a new file in the temporary folder.
    private static func temporaryFile(at date: Date) -> String {
        let stamp = date.formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
        let name = "apihealth-\(stamp)-\(UInt16.random(in: 0 ... .max)).lp"
        return FileManager.default.temporaryDirectory.appending(path: name).path(percentEncoded: false)
    }
}
