/// A situation in which a limit must prove itself, and what is asked of it there.
struct LimitTrial {
    /// What is asked, in the order of the tables.
    enum Kind: String, CaseIterable {
        case steady = "one client, from second 60 on"
        case stepDown = "capacity falls to a quarter"
        case sharing = "two clients at once, limits of 16 and 2"
        case joining = "a second client joins after 30 s"
        case hundred = "a hundred clients, capacity 200"
        case slower = "service takes three times as long, from 40 s after"
        case failing = "all requests fail for 10 s"
        case quiet = "four quiet minutes with two requests at a time"
        case hurried = "callers with deadlines of 250 ms, three times the capacity"
        case hurriedStepDown = "capacity falls to a quarter, callers with deadlines of 250 ms, from 60 s after"
        case hurriedSlower = "service takes three times as long, callers with deadlines of 1 s, from 60 s after"
        case leavingSlower = "service takes three times as long, callers who leave after 1 s, from 60 s after"
        case leaving = "callers who leave after 250 ms without a word, nine tenths of the capacity"
        case leavingMore = "callers who leave after 250 ms without a word, twice the capacity"
        case straying = "half of the callers leave at any moment, twice the capacity"
        case mixed = "half take 10 ms and have 100 ms, half 450 ms and 1 s, three quarters of the capacity"
    }

    let kind: Kind
    let capacity: Int
    let variation: Double

    /// All trials; four divides the workers of all servers but the smallest, because trials take a quarter of them.
    static let all = Kind.allCases.flatMap { kind in
        [0, 0.5, 1].flatMap { variation in
            kind.capacities.map { LimitTrial(kind: kind, capacity: $0, variation: variation) }
        }
    }

    /// A number that was measured, and whether it is what it must be.
    struct Finding {
        let name: String
        let value: Double
        let holds: Bool
    }

    /// The round trip of a server without a queue, in seconds.
    private static let roundTrip = 0.1

    func run<Limit: SimulatedLimit>(_ limit: Limit.Type, seed: UInt64) -> [Finding] {
        var simulation = LimitSimulation()
        simulation.capacity = .init(capacity)
        simulation.variation = variation
        simulation.seed = seed
        // AIMD knows refusals only, so its server must refuse.
        if limit is AIMDLimit.Type { simulation.longestQueue = 2 * capacity }
        switch kind {
        case .steady: return steady(simulation.run([Limit(initial: 4)]))
        case .stepDown: return stepDown(simulation, Limit.self)
        case .sharing: return sharing(simulation, [Limit(initial: 16), Limit(initial: 2)])
        case .joining:
            simulation.joiningInterval = 30
            return sharing(simulation, [Limit(initial: 4), Limit(initial: 4)])
        case .hundred: return hundred(simulation, Limit.self)
        case .slower: return slower(simulation, Limit.self)
        case .failing: return failing(simulation, Limit.self)
        case .quiet: return quiet(simulation, Limit.self)
        case .hurried, .hurriedStepDown, .hurriedSlower, .leavingSlower, .leaving, .leavingMore, .straying, .mixed:
            return called(simulation, Limit.self)
        }
    }

    /// Callers come by chance, whatever has become of those before.
    private func called<Limit: SimulatedLimit>(_ simulation: LimitSimulation, _ limit: Limit.Type) -> [Finding] {
        var simulation = simulation
        let possible = Double(capacity) / Self.roundTrip
        simulation.seconds = 240
        switch kind {
        case .hurried: simulation.callers = .init(rate: .init(3 * possible), patience: 0.25, haveDeadlines: true)
        case .leaving: simulation.callers = .init(rate: .init(0.9 * possible), patience: 0.25)
        case .leavingMore: simulation.callers = .init(rate: .init(2 * possible), patience: 0.25)
        case .straying:
            simulation.callers = .init(rate: .init(2 * possible), patience: 2, haveDeadlines: true, fickle: 0.5)
        case .mixed:
            let kinds = [(0.1, 0.1), (4.5, 1)].map { LimitSimulation.Callers.Kind(share: 0.5, work: $0, patience: $1) }
            simulation.callers = .init(rate: .init(0.75 * possible / 2.3), kinds: kinds, haveDeadlines: true)
        case .leavingSlower:
            simulation.service = .init(Self.roundTrip, (60, 3 * Self.roundTrip))
            simulation.callers = .init(rate: .init(0.75 * possible), patience: 1)
            simulation.countedFrom = 120
        case .hurriedStepDown:
            simulation.capacity = .init(capacity, (60, capacity / 4))
            simulation.callers = .init(rate: .init(0.75 * possible), patience: 0.25, haveDeadlines: true)
            simulation.countedFrom = 120
        default:
            simulation.service = .init(Self.roundTrip, (60, 3 * Self.roundTrip))
            simulation.callers = .init(rate: .init(0.75 * possible), patience: 1, haveDeadlines: true)
            simulation.countedFrom = 120
        }
        let course = simulation.run([Limit(initial: 4)])
        let use = kind == .mixed ? course.leastUse : course.use
        return [Finding(name: "use", value: use, holds: use >= 0.9)]
    }

    private func steady(_ course: LimitCourse) -> [Finding] { [use(course), height(course, atMost: 1.5)] }

    private func use(_ course: LimitCourse) -> Finding {
        Finding(name: "use", value: course.use, holds: course.use >= 0.95)
    }

    private func height(_ course: LimitCourse, atMost most: Double) -> Finding {
        let height = course.meanLimit / Double(capacity)
        return Finding(name: "limit/C", value: height, holds: height <= most)
    }

    private func stepDown<Limit: SimulatedLimit>(_ simulation: LimitSimulation, _ limit: Limit.Type) -> [Finding] {
        var simulation = simulation
        let left = capacity / 4
        simulation.capacity = .init(capacity, (60, left))
        let course = simulation.run([Limit(initial: 4)])
        let end = course.second(from: 60.2) { $0.queue < left } ?? .infinity
        let trips = (end - 60) / Self.roundTrip
        return [Finding(name: "round trips", value: trips, holds: trips <= 40)]
    }

    private func sharing(_ simulation: LimitSimulation, _ limits: [some SimulatedLimit]) -> [Finding] {
        var simulation = simulation
        simulation.seconds = 240
        simulation.countedFrom = 150
        let course = simulation.run(limits)
        let (less, more) = (course.meanLimits.min() ?? 0, course.meanLimits.max() ?? 0)
        let share = more > 0 ? less / more : 0
        return [
            Finding(name: "share", value: share, holds: share >= 0.8), height(course, atMost: 2), use(course),
        ]
    }

    private func hundred<Limit: SimulatedLimit>(_ simulation: LimitSimulation, _ limit: Limit.Type) -> [Finding] {
        var simulation = simulation
        simulation.seconds = 240
        simulation.countedFrom = 150
        let course = simulation.run((0..<100).map { _ in Limit(initial: 4) })
        return [height(course, atMost: 2), use(course)]
    }

    private func slower<Limit: SimulatedLimit>(_ simulation: LimitSimulation, _ limit: Limit.Type) -> [Finding] {
        var simulation = simulation
        simulation.service = .init(Self.roundTrip, (60, 3 * Self.roundTrip))
        simulation.seconds = 180
        simulation.countedFrom = 100
        let course = simulation.run([Limit(initial: 4)])
        // The queue that the limit of the quick service makes, in round trips of the slow one.
        let end = course.second(from: 60.2) { $0.limits[0] <= capacity } ?? .infinity
        let trips = (end - 60) / (3 * Self.roundTrip)
        return [Finding(name: "round trips", value: trips, holds: trips <= 40)] + steady(course)
    }

    private func failing<Limit: SimulatedLimit>(_ simulation: LimitSimulation, _ limit: Limit.Type) -> [Finding] {
        var simulation = simulation
        simulation.failing = 40..<50
        simulation.countedFrom = 80
        let course = simulation.run([Limit(initial: 4)])
        let during = course.moments.filter { simulation.failing.contains($0.second) }
        let lowest = Double(during.flatMap(\.limits).min() ?? .max)
        let enough = 9 * capacity / 10
        let trips = ((course.second(from: 50) { $0.limits[0] >= enough } ?? .infinity) - 50) / Self.roundTrip
        return [
            Finding(name: "lowest", value: lowest, holds: lowest <= 1),
            Finding(name: "round trips", value: trips, holds: trips <= 100), use(course),
        ]
    }

    private func quiet<Limit: SimulatedLimit>(_ simulation: LimitSimulation, _ limit: Limit.Type) -> [Finding] {
        var simulation = simulation
        simulation.demand = .init(.max, (60, 2), (300, .max))
        simulation.seconds = 400
        simulation.countedFrom = 301
        let course = simulation.run([Limit(initial: 4)])
        // What the busy minute began may come to its end.
        let before = course.second(from: 75) { _ in true }.flatMap { second in
            course.moments.first { $0.second == second }?.limits.first
        }
        let after = course.moments.last { $0.second < 300 }?.limits.first
        let ratio = Double(after ?? 0) / Double(max(1, before ?? 0))
        return [Finding(name: "after/before", value: ratio, holds: ratio == 1), use(course)]
    }
}

extension LimitTrial.Kind {
    /// The servers that are tried.
    fileprivate var capacities: [Int] {
        switch self {
        case .steady: [5, 20, 40, 200]
        case .stepDown, .sharing, .joining: [20, 40, 200]
        case .hundred: [200]
        case .slower, .failing, .quiet: [20]
        case .hurried, .hurriedStepDown, .hurriedSlower, .leavingSlower, .leaving, .leavingMore, .straying, .mixed:
            [20, 40]
        }
    }
}
