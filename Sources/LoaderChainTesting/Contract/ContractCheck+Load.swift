import Dispatch
import LoaderChain
import Synchronization

extension ContractCheck {
    static let loadParts = [
        Part(name: "Many tasks from many threads, cancelled and reset at random") { stage in
            let chain = stage.chain(to: ChanceTerminal(seed: stage.check.seed))
            let threads = 4
            let loaded = Locked<[[TaskProbe]]>([])
            for thread in 0..<threads {
                stage.check.startThread(orSay: stage.conclude) {
                    let probes = loadAtRandom(with: chain, on: stage, thread: thread)
                    loaded.withLock { $0.append(probes) }
                    stage.signal.raise()
                }
            }
            guard stage.waitWhileProgressing(until: { loaded.withLock(\.count) == threads }) else {
                return stage.noteVainWait(
                    "the calls of four threads did not return",
                    "the loader makes threads wait for one another. Hold no lock while you pass a task on or "
                        + "complete one"
                )
            }
            for probe in loaded.withLock({ $0 }).joined() {
                guard stage.result(of: probe, mayBeAbandoned: true) != nil else { return }
            }
            stage.reset(chain, "the reset at the end")
        },
        Part(name: "A long run of tasks, each loaded by the handler of the one before") { stage in
            // A call that is nested in the one before needs more than this for each task. The few that nest in a correct loader
            // need less together.
            let terminal = DepthTerminal(greatestDepth: 512 * stage.check.tasks)
            let chain = stage.chain(to: terminal)
            let done = stage.probe()
            stage.call("`load(task:)`, or a handler that it called,") {
                load(stage.check.tasks, with: chain, to: terminal, then: done, on: stage)
            }
            guard stage.waitWhileProgressing(until: { done.hasEnded }) else {
                return stage.noteVainWait("the run did not come to its end", "a task of it has not completed")
            }
            stage.expect(
                !terminal.isTooDeep,
                "the stack grew by \(terminal.depth) bytes over \(stage.check.tasks) tasks: the loader starts a "
                    + "task inside the end of the task before; start the next in a loop instead")
        },
    ]

    private static func loadAtRandom(with chain: HTTPLoader, on stage: ContractStage, thread: Int) -> [TaskProbe] {
        var random = SeededGenerator(seed: stage.check.seed &+ UInt64(thread) &* 0x9E37)
        return (0..<max(20, stage.check.tasks / 50)).map { number in
            stage.noteProgress()
            let probe = TaskProbe("/contract/\(number % 7)", stage.signal)
            let request = stage.request(probe.path)
            probe.task = WeakReference(chain.load(request: request) { probe.complete($0) })
            if random.next() % 4 == 0 { probe.cancel() }
            if random.next() % 50 == 0 { chain.reset {} }
            return probe
        }
    }

    private static func load(
        _ count: Int, with chain: HTTPLoader, to terminal: DepthTerminal, then done: TaskProbe, on stage: ContractStage
    ) {
        guard count > 0, !terminal.isTooDeep else { return done.complete() }
        stage.noteProgress()
        chain.load(request: HTTPRequest(host: "contract.test", path: "/\(count)")) { [weak chain] _ in
            guard let chain else { return done.complete() }
            load(count - 1, with: chain, to: terminal, then: done, on: stage)
        }
    }
}

/// Responds at once or later, with success or failure, or drops the task, at random.
private final class ChanceTerminal: HTTPLoader, @unchecked Sendable {
    private let random: RandomSource

    init(seed: UInt64) { random = RandomSource(seed: seed) }

    override func load(task: HTTPTask) {
        switch random.next() % 8 {
        case 0: break
        case 1: fail(task, .connectionLost)
        case 2, 3: task.answer(.ok)
        default:
            DispatchQueue.global().async { task.answer(.serviceUnavailable) }
        }
    }
}

/// Responds at once, and records how deep the stack was, relative to the shallowest call on the thread.
private final class DepthTerminal: HTTPLoader, @unchecked Sendable {
    private let extents = Locked<[UInt: (lowest: UInt, highest: UInt)]>([:])
    private let greatest = Atomic(0)
    private let greatestDepth: Int

    init(greatestDepth: Int) { self.greatestDepth = greatestDepth }

    var depth: Int { greatest.load(ordering: .relaxed) }

    var isTooDeep: Bool { depth >= greatestDepth }

    override func load(task: HTTPTask) {
        var marker = 0
        let address = withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
        let thread = SystemThread.currentNumber
        let extent = extents.withLock { extents in
            var extent = extents[thread] ?? (address, address)
            extent = (min(extent.lowest, address), max(extent.highest, address))
            extents[thread] = extent
            return Int(extent.highest - extent.lowest)
        }
        greatest.max(extent, ordering: .relaxed)
        task.answer(.ok)
    }
}
