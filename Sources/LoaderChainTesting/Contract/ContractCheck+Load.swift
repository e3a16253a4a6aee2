import Dispatch
import LoaderChain

extension ContractCheck {
    /// The parts with many tasks.
    static let loadParts = [
        Part(name: "Many tasks from many threads, cancelled and reset at random") { stage, seed in
            let terminal = ChanceTerminal(seed: seed)
            let chain = stage.chain(to: terminal)
            let threads = 4
            let tasksPerThread = stage.check.tasks / 50
            let probes = await withTaskGroup(of: [TaskProbe].self) { group in
                for thread in 0..<threads {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &+ UInt64(thread) &* 0x9E37)
                        return (0..<tasksPerThread).map { number in
                            let probe = stage.load("/\(number % 7)", with: chain)
                            if random.next() % 4 == 0 { probe.cancel() }
                            if random.next() % 50 == 0 { chain.reset {} }
                            return probe
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            // One task that does not complete is enough to report.
            for probe in probes where await stage.result(of: probe) == nil { return }
            await stage.reset(chain, "the reset at the end")
        },
        Part(name: "A long run of tasks, each loaded by the handler of the one before") { stage, _ in
            let terminal = DepthTerminal()
            let chain = stage.chain(to: terminal)
            let tasks = stage.check.tasks
            let done = stage.probe()
            Self.load(tasks, with: chain, then: done)
            stage.expect(await done.isOver(), inTime: "the run did not come to its end")
            // Eight nested deliveries need little of this, and a thousand would exceed it.
            let allowed = 512 * 1024
            stage.expect(terminal.depth < allowed, "the stack grew by \(terminal.depth) bytes over \(tasks) tasks")
        },
    ]

    private static func load(_ count: Int, with chain: HTTPLoader, then done: TaskProbe) {
        guard count > 0 else { return done.complete(nil) }
        chain.load(request: HTTPRequest(host: "contract.test", path: "/\(count)")) { [weak chain] _ in
            guard let chain else { return done.complete(nil) }
            load(count - 1, with: chain, then: done)
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
        case 2, 3: task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
        default:
            DispatchQueue.global().async {
                task.complete(.success(HTTPResponse(request: task.request, status: .serviceUnavailable)))
            }
        }
    }
}

/// Responds at once, and records how deep the stack was, relative to the shallowest call on the thread.
private final class DepthTerminal: HTTPLoader, @unchecked Sendable {
    private struct Extent {
        var lowest = UInt.max
        var highest = UInt.min
    }
    private let extents = Locked<[UInt: Extent]>([:])

    var depth: Int {
        extents.withLock { $0.values.map { Int($0.highest - $0.lowest) }.max() ?? 0 }
    }

    override func load(task: HTTPTask) {
        var marker = 0
        let address = withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
        let thread = SystemThread.currentNumber
        extents.withLock { extents in
            extents[thread, default: Extent()].lowest = min(extents[thread, default: Extent()].lowest, address)
            extents[thread, default: Extent()].highest = max(extents[thread, default: Extent()].highest, address)
        }
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}
