import BenchmarkSupport
import LoaderChain
import LoaderChainPlatformFoundation

/// The cost of the primitives that everything else consists of.
func floorBenchmarks() -> [Benchmark] {
    let suite = Suite()

    suite.add("floor/lock", "Takes an uncontended lock, adds one to a number, and releases it.", allocations: 0) {
        let number = Locked(0)
        return { iterations in
            for _ in 0..<iterations { number.withLock { $0 += 1 } }
            blackHole(number.withLock { $0 })
        }
    }

    suite.add("floor/allocation", "Makes one object with one stored number and releases it.", allocations: 1) {
        { iterations in
            for index in 0..<iterations { blackHole(Leaf(number: index)) }
        }
    }

    suite.add("floor/uuid", "Makes a random UUID with Foundation.") {
        { iterations in
            for _ in 0..<iterations { blackHole(UUID()) }
        }
    }

    return suite.benchmarks
}

private final class Leaf {
    let number: Int
    init(number: Int) { self.number = number }
}
