import BenchmarkSupport
import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the machine charges for the things everything else is made of.
func floorBenchmarks() -> [Benchmark] {
    let suite = Suite()

    suite.add("floor/lock", "Takes a lock that nobody else wants, adds one to a number, and lets go.", allocations: 0) {
        let number = Guarded(0)
        return { iterations in
            for _ in 0..<iterations { number.withLock { $0 += 1 } }
            blackHole(number.withLock { $0 })
        }
    }

    suite.add("floor/allocation", "Makes one object with one stored number and lets go of it.", allocations: 1) {
        { iterations in
            for index in 0..<iterations { blackHole(Leaf(number: index)) }
        }
    }

    suite.add("floor/uuid", "Makes a random UUID the way Foundation does.") {
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
