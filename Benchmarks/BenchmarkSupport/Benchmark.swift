/// One row of the table: an operation, the peer that it is compared with, and its limits.
package struct Benchmark {
    /// Prepares the operation, and returns a closure that runs it a number of times, which alone is timed and counted.
    package typealias Setup = () -> (_ iterations: Int) -> Void

    /// The most that the operation should cost, shown beside what it costs.
    package struct Limit: Equatable {
        package var time: Duration?
        package var allocations: Double?
        /// The time relative to that of the peer.
        package var ratio: Double?
    }

    /// How the cost is measured.
    enum Work {
        /// The cost of one iteration.
        case operation(Setup)
        /// The cost that one more unit adds to an iteration, from a small and a large build of the same thing.
        case slope(small: (units: Int, setup: Setup), large: (units: Int, setup: Setup))
    }

    /// A topic and a name in it, such as `task/lifecycle`.
    package let name: String
    /// What one operation does, in one or two sentences.
    package let workload: String
    /// The benchmark whose samples are taken in turn with this one's, and by whose time this one's is divided.
    package let peer: String?
    package let limit: Limit
    /// How many bytes one operation processes, if its throughput is of interest.
    package let bytes: Int?
    let work: Work
}

extension Benchmark {
    /// Describes an operation that is timed by itself.
    package init(
        _ name: String, _ workload: String, peer: String? = nil, limit: Duration? = nil, allocations: Double? = nil,
        ratio: Double? = nil, bytes: Int? = nil, setup: @escaping Setup
    ) {
        self.init(
            name: name, workload: workload, peer: peer,
            limit: Limit(time: limit, allocations: allocations, ratio: ratio),
            bytes: bytes, work: .operation(setup))
    }

    /// Describes the cost of one more unit, such as one more loader in a chain.
    ///
    /// Costs that both sizes share cancel out: the cost is `(large - small) / (units of large - units of small)`, for time
    /// and allocations.
    package static func slope(
        _ name: String, _ workload: String, peer: String? = nil, limit: Duration? = nil, allocations: Double? = nil,
        ratio: Double? = nil, bytes: Int? = nil, small: (units: Int, setup: Setup), large: (units: Int, setup: Setup)
    ) -> Benchmark {
        precondition(small.units < large.units, "\(name): the large build needs more units than the small one")
        return Benchmark(
            name: name, workload: workload, peer: peer,
            limit: Limit(time: limit, allocations: allocations, ratio: ratio),
            bytes: bytes, work: .slope(small: small, large: large))
    }
}
