import LoaderChain
import LoaderChainPlatformC

/// A server with a number of workers and a queue, and clients that send as much as their limits let them; `seed` makes a run repeatable.
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
    /// The standard deviation of that, relative to the mean: 0, or the root of 1 / n for a whole number n, such as 1 and 0.5.
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

    /// Who comes to a client, if it does not always have enough to send.
    var callers: Callers?

    /// Those who come to a client by chance, and wait for a slot as in a ``Throttle``.
    struct Callers {
        /// How many come each second, in the mean.
        var rate: Course<Double>
        /// What they ask for.
        var kinds: [Kind]
        /// Whether the client knows when they leave, and passes over those that would leave before they are served.
        var haveDeadlines = false
        /// What part of them leaves earlier, at any moment of the patience.
        var fickle = 0.0

        init(rate: Course<Double>, patience: Double, haveDeadlines: Bool = false, fickle: Double = 0) {
            self.init(rate: rate, kinds: [Kind(patience: patience)], haveDeadlines: haveDeadlines, fickle: fickle)
        }

        init(rate: Course<Double>, kinds: [Kind], haveDeadlines: Bool = false, fickle: Double = 0) {
            (self.rate, self.kinds, self.haveDeadlines, self.fickle) = (rate, kinds, haveDeadlines, fickle)
        }

        /// The work of the mean request, as a multiple of the service.
        var meanWork: Double { kinds.reduce(0) { $0 + $1.share * $1.work } }

        /// Callers who ask for the same.
        struct Kind {
            /// What part of all callers they are.
            var share = 1.0
            /// How much work it is, as a multiple of the service.
            var work = 1.0
            /// After how many seconds they leave without an answer; the server does not notice, and does their work all the same.
            var patience: Double
        }
    }

    /// How long a refusal takes.
    private static let refusalSeconds = 0.02
    private static let recordInterval = 0.1

    /// Runs the clients, which have a limit each.
    func run<Limit: SimulatedLimit>(_ limits: [Limit]) -> LimitCourse {
        var run = Run(self, limits)
        return run.result()
    }

    /// How many exponential draws the work for a request is the mean of.
    private static func parts(of variation: Double) -> Int { max(1, Int((1 / (variation * variation)).rounded())) }

    /// What share of all work is done within a time, which is given as a multiple of the mean.
    private func share(within time: Double) -> Double {
        guard variation > 0 else { return time < 1 ? 0 : 1 }
        guard time < .infinity else { return 1 }
        let parts = Self.parts(of: variation)
        var term = exp(-time * Double(parts))
        var left = term
        for part in 1..<max(2, parts) where part < parts {
            term *= time * Double(parts) / Double(part)
            left += term
        }
        return 1 - left
    }

    private struct Run<Limit: SimulatedLimit> {
        let simulation: LimitSimulation
        var limits: [Limit]
        var random: SeededGenerator
        var events = EventQueue()
        var inFlight: [Int]
        /// The callers that have come, in their order, some of which have left.
        var callers: [Queue<Caller>]
        /// Those that wait for a slot, by their numbers.
        var waitingCallers: [Set<Int>]
        var hastes: [ThrottleHaste]
        /// How long requests of each kind take.
        var kinds: [[ThrottleKind]]
        var lastNumber = 0
        /// The requests that somebody waits for, by their numbers.
        var underWay: [Int: Request] = [:]
        var waiting = Queue<Request>()
        var busy = 0
        var course: LimitCourse

        init(_ simulation: LimitSimulation, _ limits: [Limit]) {
            self.simulation = simulation
            self.limits = limits
            random = SeededGenerator(seed: simulation.seed)
            inFlight = Array(repeating: 0, count: limits.count)
            callers = Array(repeating: Queue(), count: limits.count)
            waitingCallers = Array(repeating: [], count: limits.count)
            let count = simulation.callers?.kinds.count ?? 1
            course = LimitCourse(kinds: count)
            kinds = limits.map { _ in (0..<count).map { _ in ThrottleKind() } }
            hastes = Array(repeating: ThrottleHaste(), count: limits.count)
        }

        mutating func result() -> LimitCourse {
            var wakeUps = (1..<max(2, limits.count)).map { simulation.joiningInterval * Double($0) }
            wakeUps += simulation.demand.steps.map(\.from) + [simulation.failing.upperBound]
            for second in wakeUps { events.push(Event(second: second, kind: .wakeUp)) }
            for client in limits.indices { expectCaller(of: client, after: 0) }
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
            course.finish()
            return course
        }

        private mutating func record(_ second: Double) {
            let service = simulation.service.at(second)
            var possible = [Double(simulation.capacity.at(second)) / service]
            if let callers = simulation.callers {
                let all = min(possible[0] / callers.meanWork, callers.rate.at(second) * Double(limits.count))
                possible = callers.kinds.map { kind in
                    all * kind.share * simulation.share(within: kind.patience / (service * kind.work))
                }
            }
            course.add(
                second, limits: limits.map(\.current), queue: waiting.count,
                possible: possible.map { $0 * LimitSimulation.recordInterval }, counts: second >= simulation.countedFrom
            )
        }

        private mutating func happen(_ event: Event) {
            switch event.kind {
            case .wakeUp:
                break
            case .expected(let client):
                expectCaller(of: client, after: event.second)
            case .comes(let client):
                come(to: client, at: event.second)
                expectCaller(of: client, after: event.second)
            case .leaves(let client, let number):
                waitingCallers[client].remove(number)
                if let request = underWay.removeValue(forKey: number) { end(request, .givenUp, at: event.second) }
            case .refused(let request):
                if underWay.removeValue(forKey: request.number) != nil { end(request, .refused, at: event.second) }
            case .served(let request):
                busy -= 1
                if underWay.removeValue(forKey: request.number) != nil {
                    course.countServed(request.kind, event.second >= simulation.countedFrom)
                    end(request, .served, at: event.second)
                }
                while busy < simulation.capacity.at(event.second), let next = waiting.popFirst() {
                    serve(next, at: event.second)
                }
            }
        }

        private mutating func end(_ request: Request, _ end: EndedRequest.End, at second: Double) {
            let (client, seconds) = (request.client, second - request.start)
            let waited = request.start - request.arrival
            let (isGivenUp, now) = (end == .givenUp, TimerInstant(second))
            let isDone = end == .served
            let isLearned = isDone || isGivenUp && second >= request.deadline
            if waited > 0, isLearned, simulation.callers?.haveDeadlines ?? false {
                kinds[client][request.kind].learn(.seconds(seconds), isDone: isDone, at: now)
            }
            if waited > 0, request.isOldest {
                hastes[client].note(
                    isGivenUp: isGivenUp, cameAt: TimerInstant(request.arrival),
                    startedAt: TimerInstant(request.start), at: now)
            }
            let ended = EndedRequest(token: request.token, seconds: seconds, end: end, inFlight: inFlight[client])
            limits[client].end(ended, at: second)
            inFlight[client] -= 1
        }

        // MARK: Callers

        private mutating func expectCaller(of client: Int, after second: Double) {
            guard let rate = simulation.callers?.rate.at(second) else { return }
            // The rate may change before anybody comes.
            let wait = min(-log(1 - chance()) / rate, 1)
            events.push(Event(second: second + wait, kind: wait < 1 ? .comes(client) : .expected(client)))
        }

        private mutating func come(to client: Int, at second: Double) {
            guard let callers = simulation.callers else { return }
            lastNumber += 1
            let isFickle = callers.fickle > 0 && chance() < callers.fickle
            let kind = drawKind(of: callers.kinds)
            let patience = callers.kinds[kind].patience
            let end = second + (isFickle ? chance() * patience : patience)
            let usualTime = kinds[client][kind].usualTime(at: TimerInstant(second), isAdaptive: true)
            self.callers[client].append(
                Caller(
                    number: lastNumber, kind: kind, start: second, end: end, deadline: second + patience,
                    usualTime: callers.haveDeadlines ? usualTime : nil))
            waitingCallers[client].insert(lastNumber)
            if end < .infinity { events.push(Event(second: end, kind: .leaves(client, lastNumber))) }
        }

        private mutating func drawKind(of kinds: [Callers.Kind]) -> Int {
            guard kinds.count > 1 else { return 0 }
            var left = chance()
            for (index, kind) in kinds.enumerated() {
                left -= kind.share
                if left < 0 { return index }
            }
            return kinds.count - 1
        }

        /// The next caller to get one of the `free` slots; without callers, always a new caller.
        private mutating func nextCaller(of client: Int, free: Int, at second: Double) -> Caller? {
            guard simulation.callers != nil else {
                lastNumber += 1
                return Caller(number: lastNumber, kind: 0, start: second, end: .infinity, deadline: .infinity)
            }
            while !waitingCallers[client].isEmpty {
                let takesNewest = hastes[client].takesNewest(of: .normal)
                guard var caller = waitingCaller(of: client, isNewest: takesNewest) else { return nil }
                caller.isOldest = !takesNewest || waitingCallers[client].isEmpty
                let left = Duration.seconds(min(caller.deadline - second, 1e6))
                let isTooLate = caller.usualTime.map { left < $0 } ?? false
                if !isTooLate || waitingCallers[client].count < free { return caller }
            }
            return nil
        }

        private mutating func waitingCaller(of client: Int, isNewest: Bool) -> Caller? {
            while let caller = isNewest ? callers[client].popLast() : callers[client].popFirst() {
                if waitingCallers[client].remove(caller.number) != nil { return caller }
            }
            return nil
        }

        // MARK: Requests

        private mutating func send(_ second: Double) {
            for client in limits.indices where second >= simulation.joiningInterval * Double(client) {
                while true {
                    let free = min(limits[client].current, simulation.demand.at(second)) - inFlight[client]
                    guard free > 0, let caller = nextCaller(of: client, free: free, at: second) else { break }
                    inFlight[client] += 1
                    let request = Request(
                        number: caller.number, kind: caller.kind, client: client, arrival: caller.start, start: second,
                        isOldest: caller.isOldest, deadline: caller.deadline, token: limits[client].begin())
                    underWay[request.number] = request
                    arrive(request, at: second)
                }
            }
        }

        private mutating func arrive(_ request: Request, at second: Double) {
            if simulation.failing.contains(second) {
                refuse(request, at: second)
            } else if busy < simulation.capacity.at(second) {
                serve(request, at: second)
            } else if waiting.count < simulation.longestQueue {
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
            let mean = simulation.service.at(second) * (simulation.callers?.kinds[request.kind].work ?? 1)
            let work = mean * relativeWork()
            events.push(Event(second: second + work, kind: .served(request)))
        }

        private mutating func chance() -> Double { Double(random.next() >> 11) * 0x1p-53 }

        /// A draw of a gamma distribution with mean 1: the mean of that many exponential draws.
        private mutating func relativeWork() -> Double {
            let variation = simulation.variation
            guard variation > 0 else { return 1 }
            let parts = LimitSimulation.parts(of: variation)
            let sum = (0..<parts).reduce(0.0) { sum, _ in sum - log(1 - chance()) }
            return sum / Double(parts)
        }
    }
}

/// Somebody who waits for a slot of a client.
private struct Caller {
    let number: Int
    /// What it asks for.
    let kind: Int
    let start: Double
    /// When it leaves, and when it leaves at the latest.
    let end: Double
    let deadline: Double
    /// How long requests took when it came, as far as that was known.
    var usualTime: Duration?
    /// Whether it had waited longest of all when it got its slot.
    var isOldest = true
}

extension TimerInstant {
    fileprivate init(_ second: Double) { self.init(nanoseconds: Int64(second * 1e9)) }
}

private struct Request {
    let number: Int
    let kind: Int
    let client: Int
    let arrival: Double
    let start: Double
    let isOldest: Bool
    let deadline: Double
    let token: UInt32
}

private struct Event {
    enum Kind {
        /// A client may send again.
        case wakeUp
        /// Somebody comes to a client.
        case comes(Int)
        /// It is time to compute when the next caller comes to a client.
        case expected(Int)
        /// A caller of a client leaves, which has a number.
        case leaves(Int, Int)
        case served(Request)
        case refused(Request)
    }

    let second: Double
    let kind: Kind
}

private struct Queue<Element> {
    private var elements: [Element] = []
    private var first = 0

    var count: Int { elements.count - first }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popLast() -> Element? { count > 0 ? elements.removeLast() : nil }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        defer { first += 1 }
        if first > 10_000 {
            elements.removeFirst(first)
            first = 0
        }
        return elements[first]
    }
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
        /// Whether it belongs to the time that counts.
        let counts: Bool
    }

    private(set) var moments: [Moment] = []
    /// What was served, as a part of what could have been.
    private(set) var use = 0.0
    /// The same of the kind of requests of which least was served.
    private(set) var leastUse = 0.0
    /// The mean limit of each client.
    private(set) var meanLimits: [Double] = []
    private var possible: [Double]
    private var served: [Double]

    fileprivate init(kinds: Int) {
        possible = Array(repeating: 0, count: kinds)
        served = possible
    }

    /// The mean of the sum of all limits.
    var meanLimit: Double { meanLimits.reduce(0, +) }

    /// The first recorded second from `start` on that satisfies a condition; nil if none does.
    func second(from start: Double, where condition: (Moment) -> Bool) -> Double? {
        moments.first { $0.second >= start && condition($0) }?.second
    }

    fileprivate mutating func add(_ second: Double, limits: [Int], queue: Int, possible: [Double], counts: Bool) {
        moments.append(Moment(second: second, limits: limits, queue: queue, counts: counts))
        if counts { for kind in possible.indices { self.possible[kind] += possible[kind] } }
    }

    fileprivate mutating func countServed(_ kind: Int, _ counts: Bool) { if counts { served[kind] += 1 } }

    fileprivate mutating func finish() {
        func use(_ served: Double, _ possible: Double) -> Double { possible > 0 ? served / possible : 0 }
        self.use = use(served.reduce(0, +), possible.reduce(0, +))
        leastUse = zip(served, possible).map(use).min() ?? 0
        let counted = moments.filter(\.counts)
        guard let clients = counted.first?.limits.count else { return }
        meanLimits = (0..<clients).map { client in
            counted.reduce(0.0) { $0 + Double($1.limits[client]) } / Double(counted.count)
        }
    }
}
