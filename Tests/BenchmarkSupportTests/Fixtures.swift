import LoaderChainPlatformFoundation

@testable import BenchmarkSupport

/// A fake clock and allocator that benchmarks advance themselves, so that their cost is known exactly.
final class Machine {
    var time = 0.0
    var allocations = 0
    var log: [String] = []

    var meter: AllocationMeter {
        AllocationMeter(start: { self.allocations = 0 }, stop: { self.allocations })
    }

    /// Work with a cost per operation, and a cost per run of any length.
    func work(
        _ name: String = "", ns: Double, allocations: Int = 0, perRun: (ns: Double, allocations: Int) = (0, 0)
    ) -> Benchmark.Setup {
        {
            { iterations in
                self.log.append(name)
                self.time += perRun.ns + ns * Double(iterations)
                self.allocations += perRun.allocations + allocations * iterations
            }
        }
    }
}

/// A program whose files and output are in memory.
final class Desk {
    var files: [String: Data] = [:]
    var printed: [String] = []
    var complaints: [String] = []
    let machine = Machine()
    let suite = Suite()
    var fleets: [Int] = []

    var text: String { printed.joined(separator: "\n") }

    func run(_ arguments: String..., counts: Bool = true) -> Int32 {
        struct NoSuchFile: Error {}
        let console = Console(
            print: { self.printed.append($0) }, complain: { self.complaints.append($0) }, showProgress: { _ in },
            isStyled: false)
        var program = Program(
            suite: suite, meter: counts ? machine.meter : nil, console: console, host: .example,
            now: { self.machine.time },
            readFile: { path in
                guard let data = self.files[path] else { throw NoSuchFile() }
                return data
            },
            writeFile: { self.files[$0] = $1 })
        program.quickFleets = fleets
        return program.run(arguments)
    }
}

extension MeasuredHost {
    static let example = MeasuredHost(cpu: "Abacus", cores: 2, os: "Wood", swift: "6.0", date: "2026-01-02T03:04:05Z")
}
