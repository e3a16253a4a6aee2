/// The result of one fleet, and what it cost to simulate it.
struct FleetRun {
    let way: FleetWay
    let simulation: OutageSimulation
    let course: OutageCourse
    /// The processor time, which does not depend on other load on the machine.
    let duration: Duration
    /// The memory of the chains before the first request, and the peak memory, in bytes; nil if they are not available.
    let chainBytes: Int?
    let peakBytes: Int?

    /// The share of requests served in time from which a second counts as served.
    static let wellServed = 0.99

    /// Simulates a fleet and its outage.
    init(
        _ way: FleetWay, _ simulation: OutageSimulation, memory: ProcessMemory = .own,
        now: () -> Double = ProcessorTime.now
    ) {
        self.way = way
        self.simulation = simulation
        memory.forget()
        let before = memory.now()
        var built: Int?
        let start = now()
        course = simulation.run(throughEach: way.loaders) { built = memory.now() }
        duration = .nanoseconds(Int64(now() - start))
        func sinceBefore(_ bytes: Int?) -> Int? {
            guard let bytes, let before else { return nil }
            return max(0, bytes - before)
        }
        chainBytes = sinceBefore(built)
        peakBytes = sinceBefore(memory.peak())
    }

    /// How long after the end of the outage all clients were served for good, in seconds; nil if they never were.
    var recovery: Int? {
        let most = Int(Double(simulation.nominal) * Self.wellServed)
        return course.second(fromWhichServed: most).map { max(0, $0 - simulation.outage.upperBound) }
    }

    /// The most requests in a second during or after the outage, relative to a calm day.
    var overload: Double {
        let most = course.requests[simulation.outage.lowerBound...].max() ?? 0
        return Double(most) / Double(max(1, simulation.nominal))
    }

    /// How many requests reached the server while it was out.
    var requestsInOutage: Int { course.requests[simulation.outage].reduce(0, +) }
}
