/// What a fleet came to, and what it took to find out.
struct FleetRun {
    let way: FleetWay
    let simulation: OutageSimulation
    let course: OutageCourse
    /// The processor's time, which does not depend on what else the machine does.
    let duration: Duration
    /// What the chains took before anything was asked, and what all took at most, in bytes; nil where nobody can tell.
    let chainBytes: Int?
    let peakBytes: Int?

    /// A second counts as served in which so much of what is asked is answered in time.
    static let wellServed = 0.99

    /// Lets a fleet pass through its outage.
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

    /// How long after the end of the outage everybody was served for good, in seconds; nil if that never came.
    var recovery: Int? {
        let most = Int(Double(simulation.nominal) * Self.wellServed)
        return course.second(fromWhichServed: most).map { max(0, $0 - simulation.outage.upperBound) }
    }

    /// The most that arrived in a second of the outage or later, over what is asked on a calm day.
    var overload: Double {
        let most = course.requests[simulation.outage.lowerBound...].max() ?? 0
        return Double(most) / Double(max(1, simulation.nominal))
    }

    /// How many requests reached the server while it was out.
    var requestsInOutage: Int { course.requests[simulation.outage].reduce(0, +) }
}
