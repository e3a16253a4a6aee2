import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting
import Synchronization

/// One run of one kind of load.
final class Drive: Sendable {
    private let kind: Kind
    private let tasks: Int
    private let arguments: Arguments
    private let ledger: Ledger
    private let phase = Locked("loading")

    init(_ kind: Kind, tasks: Int, _ arguments: Arguments) {
        self.kind = kind
        self.tasks = max(tasks, arguments.threads)
        self.arguments = arguments
        ledger = Ledger(title: "kind \(kind.name), seed \(arguments.seed)")
    }

    /// Loads all tasks, and returns when all of them are complete and released.
    func run() {
        let start = ContinuousClock.now
        let watchdog = Watchdog(ledger, patience: arguments.patience) { [self] in
            "\(phase.withLock { $0 }), \(ledger.completed) of \(tasks) tasks completed, \(ledger.kept) handlers kept"
                + (ledger.remainder.map { ", first of what is left: \($0)" } ?? "")
        }
        load()
        wait(until: "everything is released") { ledger.kept == 0 && ledger.remainder == nil }
        watchdog.stop()
        let time = ContinuousClock.now - start
        say(
            "\(kind.name): \(tasks) tasks in \(time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))): \(ledger.summary)"
        )
    }

    private func load() {
        let rig = kind.make(ledger, arguments.seed)
        watchAll(from: rig.chain)
        let shelf = Shelf()
        let shares = (0..<arguments.threads).map {
            tasks / arguments.threads + ($0 < tasks % arguments.threads ? 1 : 0)
        }
        do {
            let threads = try shares.enumerated().map { number, share in
                try SystemThread(stackSize: 4 << 20) { self.load(share, as: number, rig, shelf) }
            }
            for thread in threads { thread.join() }
        } catch {
            ledger.fail("a thread cannot be started: \(error)")
        }
        rig.open()
        wait(until: "every task has completed") { ledger.completed == tasks }
        // A last reset waits for work that is still in progress inside the chain.
        phase.withLock { $0 = "waiting until the last reset is over" }
        let reset = DispatchSemaphore(value: 0)
        rig.chain.reset { reset.signal() }
        reset.wait()
        shelf.clear()
        wait(until: "nothing is in flight") { rig.remains() == nil }
    }

    /// The work of one thread.
    private func load(_ count: Int, as thread: Int, _ rig: Rig, _ shelf: Shelf) {
        var random = SeededGenerator(seed: arguments.seed &* 7_919 &+ UInt64(thread))
        // A limit, because a reset would otherwise end nearly all tasks before they have begun.
        let outstanding = DispatchSemaphore(value: 24)
        for number in 0..<count {
            outstanding.wait()
            let ticket = Ledger.Ticket(ledger)
            let task = rig.chain.load(request: rig.request(number, &random)) { result in
                ticket.complete(result)
                outstanding.signal()
            }
            if number % 64 == 0 { ledger.watch(task, "a caller's task") }
            shelf.put(task, at: random.next())
            for _ in 0..<rig.meddling {
                if let task = shelf[random.next()] {
                    Meddling.meddle(with: task, &random, ledger, rewrites: !arguments.isOrderly)
                }
            }
            if random.next() % 64 == 0 { rig.change(&random) }
            if random.next() % rig.tasksPerReset == 0 { rig.chain.reset {} }
        }
    }

    /// Waits until a condition holds that other threads are about to fulfil; the watchdog ends the wait if they do not.
    private func wait(until what: String, _ isSo: () -> Bool) {
        phase.withLock { $0 = "waiting until \(what)" }
        while !isSo() { usleep(200) }
    }

    private func watchAll(from chain: HTTPLoader) {
        var next: HTTPLoader? = chain
        while let loader = next {
            ledger.watch(loader, loader.name)
            for branch in loader.branches { ledger.watch(branch, branch.name) }
            next = loader.nextLoader
        }
    }
}
