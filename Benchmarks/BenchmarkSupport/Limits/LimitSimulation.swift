import LoaderChain

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A server with so many workers and a queue, and clients that send as much as their limits let them.
///
/// Everything is drawn from one seed, so a run can be repeated.
struct LimitSimulation {
    /// A number that changes at given seconds.
    struct Course<Value> {
        let steps: [(from: Double, value: Value)]

        init(_ value: Value) { steps = [(0, value)] }
        init(_ value: Value, _ later: (from: Double, value: Value)...) { steps = [(0, value)] + later }

        func at(_ second: Double) -> Value { (steps.last { $0.from <= second } ?? steps[0]).value }
    }

    /// How many requests the server works on at once.
    var capacity = Course(20)
    /// The mean seconds of its work for a request.
    var service = Course(0.1)
    /// The standard deviation of that, relative to the mean: 0, or the root of one part of a whole, as 0.5 and 1.
    var variation = 0.0
    /// How many requests may wait for a worker; others are refused at once.
    var longestQueue = Int.max
    /// The seconds in which all requests are refused.
    var failing = 0.0..<0.0
    /// How many requests each client has under way at most, whatever its limit.
    var demand = Course(Int.max)
    /// The seconds between the starts of two clients.
    var joiningInterval = 0.0
    var seconds = 120.0
    /// The second from which results count.
    var countedFrom = 60.0
    var seed: UInt64 = 1

    /// How long a refusal takes.
    private static let refusalSeconds = 0.02
    private static let recordInterval = 0.1

    /// Runs the clients, which have a limit each.
    func run<Limit: SimulatedLimit>(_ limits: [Limit]) -> LimitCourse {
        var run = Run(self, limits)
        return run.result()
    }

    /// A run under way.
    private struct Run<Limit: SimulatedLimit> {
        let simulation: LimitSimulation
        var limits: [Limit]
        var random: SeededGenerator
        var events = EventQueue()
        var inFlight: [Int]
        var waiting: [Request] = []
        var firstWaiting = 0
        var busy = 0
        var served = 0.0
        var course = LimitCourse()

        init(_ simulation: LimitSimulation, _ limits: [Limit]) {
            self.simulation = simulation
            self.limits = limits
            random = SeededGenerator(seed: simulation.seed)
            inFlight = Array(repeating: 0, count: limits.count)
        }

        mutating func result() -> LimitCourse {
            var wakeUps = (1..<max(2, limits.count)).map { simulation.joiningInterval * Double($0) }
            wakeUps += simulation.demand.steps.map(\.from) + [simulation.failing.upperBound]
            for second in wakeUps { events.push(Event(second: second, kind: .wakeUp)) }
            send(0)
            var nextRecord = 0.0
            while let event = events.pop(), event.second <= simulation.seconds {
                while nextRecord <= event.second {
                    record(nextRecord)
                    nextRecord += LimitSimulation.recordInterval
                }
                happen(event)
                send(event.second)
            }
            course.finish(served: served, from: simulation.countedFrom)
            return course
        }

        private mutating func record(_ second: Double) {
            let work = Double(simulation.capacity.at(second)) / simulation.service.at(second)
            course.add(
                second, limits: limits.map(\.current), queue: waiting.count - firstWaiting,
                possible: work * LimitSimulation.recordInterval, counts: second >= simulation.countedFrom)
        }

        private mutating func happen(_ event: Event) {
            switch event.kind {
            case .wakeUp:
                break
            case .refused(let request):
                end(request, at: event.second, isRefused: true)
            case .served(let request):
                if event.second >= simulation.countedFrom { served += 1 }
                busy -= 1
                end(request, at: event.second, isRefused: false)
                while busy < simulation.capacity.at(event.second), firstWaiting < waiting.count {
                    serve(waiting[firstWaiting], at: event.second)
                    firstWaiting += 1
                }
                if firstWaiting > 10_000 { waiting.removeFirst(replaceFirstWaiting()) }
            }
        }

        private mutating func replaceFirstWaiting() -> Int {
            defer { firstWaiting = 0 }
            return firstWaiting
        }

        private mutating func end(_ request: Request, at second: Double, isRefused: Bool) {
            let client = request.client
            let ended = EndedRequest(
                token: request.token, seconds: second - request.start, isRefused: isRefused, inFlight: inFlight[client])
            limits[client].end(ended, at: second)
            inFlight[client] -= 1
        }

        private mutating func send(_ second: Double) {
            for client in limits.indices where second >= simulation.joiningInterval * Double(client) {
                while inFlight[client] < min(limits[client].current, simulation.demand.at(second)) {
                    inFlight[client] += 1
                    arrive(Request(client: client, start: second, token: limits[client].begin()), at: second)
                }
            }
        }

        private mutating func arrive(_ request: Request, at second: Double) {
            if simulation.failing.contains(second) {
                refuse(request, at: second)
            } else if busy < simulation.capacity.at(second) {
                serve(request, at: second)
            } else if waiting.count - firstWaiting < simulation.longestQueue {
                waiting.append(request)
            } else {
                refuse(request, at: second)
            }
        }

        private mutating func refuse(_ request: Request, at second: Double) {
            events.push(Event(second: second + LimitSimulation.refusalSeconds, kind: .refused(request)))
        }

        private mutating func serve(_ request: Request, at second: Double) {
            busy += 1
            let work = simulation.service.at(second) * relativeWork()
            events.push(Event(second: second + work, kind: .served(request)))
        }

        /// A draw of a gamma distribution with mean 1: the mean of so many exponential draws.
        private mutating func relativeWork() -> Double {
            let variation = simulation.variation
            guard variation > 0 else { return 1 }
            let parts = max(1, Int((1 / (variation * variation)).rounded()))
            let sum = (0..<parts).reduce(0.0) { sum, _ in sum - log(1 - Double(random.next() >> 11) * 0x1p-53) }
            return sum / Double(parts)
        }
    }
}

/// A request under way in a simulation.
private struct Request {
    let client: Int
    let start: Double
    let token: UInt32
}

private struct Event {
    enum Kind {
        /// A client may send again.
        case wakeUp
        case served(Request)
        case refused(Request)
    }

    let second: Double
    let kind: Kind
}

/// Events, the earliest first: a binary heap.
private struct EventQueue {
    private var events: [Event] = []

    mutating func push(_ event: Event) {
        events.append(event)
        var place = events.count - 1
        while place > 0, events[(place - 1) / 2].second > events[place].second {
            events.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func pop() -> Event? {
        guard let first = events.first, let last = events.popLast() else { return nil }
        guard !events.isEmpty else { return first }
        events[0] = last
        var place = 0
        while 2 * place + 1 < events.count {
            let (left, right) = (2 * place + 1, 2 * place + 2)
            let child = right < events.count && events[right].second < events[left].second ? right : left
            guard events[child].second < events[place].second else { break }
            events.swapAt(place, child)
            place = child
        }
        return first
    }
}

/// What happened in a simulation of limits.
struct LimitCourse {
    /// One of the instants that were recorded.
    struct Moment {
        let second: Double
        let limits: [Int]
        let queue: Int
    }

    private(set) var moments: [Moment] = []
    /// What was served, as a part of what could have been.
    private(set) var use = 0.0
    /// The mean limit of each client.
    private(set) var meanLimits: [Double] = []
    private var possible = 0.0

    /// The mean of the sum of all limits.
    var meanLimit: Double { meanLimits.reduce(0, +) }

    /// The first recorded second from `start` on that satisfies a condition; nil if none does.
    func second(from start: Double, where condition: (Moment) -> Bool) -> Double? {
        moments.first { $0.second >= start && condition($0) }?.second
    }

    fileprivate mutating func add(_ second: Double, limits: [Int], queue: Int, possible: Double, counts: Bool) {
        moments.append(Moment(second: second, limits: limits, queue: queue))
        if counts { self.possible += possible }
    }

    fileprivate mutating func finish(served: Double, from start: Double) {
        use = possible > 0 ? served / possible : 0
        let counted = moments.filter { $0.second >= start }
        guard let clients = counted.first?.limits.count else { return }
        meanLimits = (0..<clients).map { client in
            counted.reduce(0.0) { $0 + Double($1.limits[client]) } / Double(counted.count)
        }
    }
}
