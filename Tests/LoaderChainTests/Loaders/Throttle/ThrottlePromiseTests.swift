import LoaderChainTesting
import Testing

@testable import LoaderChain

/// What a throttle promises to tasks of a lower priority, seen from outside.
@Suite(.timeLimit(.minutes(10))) struct ThrottlePromiseTests {
    @Test func lowPriorityIsNotStarvedByTrafficToTwoHosts() {
        let throttle = Throttle(maximumNumberOfRequests: 2, perHost: 1)
        let terminal = ScriptedTerminal()
        let chain = throttle --> terminal
        let log = EventLog()
        func load(_ host: String, _ priority: ThrottlePriority) {
            var request = HTTPRequest(host: host)
            request.priority = priority
            chain.load(request: request) { _ in log.note("\(host) \(priority)") }
        }
        for _ in 0..<3 { for host in ["a", "b"] { load(host, .high) } }
        load("a", .low)
        for _ in 0..<500 where !log.events.contains("a low") {
            guard let task = terminal.held.first else { break }
            load(task.request.host ?? "", .high)
            terminal.answer(task)
        }
        let before = log.events.prefix { $0 != "a low" }
        #expect(before.count < log.events.count, "the low one has not run after \(log.events.count) others")
        // One of the first host ran already when it arrived.
        #expect(before.count { $0 == "a high" } <= 9)
        throttle.maximumNumberOfRequests = .max
        throttle.perHost = .max
        terminal.answerAll()
    }

    @Test(arguments: [nil, 1] as [UInt?])
    func newcomerDisplacesLastOfLowestPriorityInFullQueue(perHost: UInt?) {
        let throttle = Throttle(maximumNumberOfRequests: 0, perHost: perHost, maximumWaiting: 3)
        let terminal = ScriptedTerminal { _ in .success() }
        let chain = throttle --> terminal
        let log = EventLog()
        func load(_ name: String, _ priority: ThrottlePriority) {
            var request = HTTPRequest(host: name)
            request.priority = priority
            chain.load(request: request) { log.note("\(name) \($0.summary)") }
        }
        load("low-1", .low)
        load("normal-1", .normal)
        load("low-2", .low)
        load("low-3", .low)
        #expect(log.events == ["low-3 queueFull"])
        load("high-1", .high)
        #expect(log.events.last == "low-2 queueFull")
        load("normal-2", .normal)
        #expect(log.events.last == "low-1 queueFull")
        load("normal-3", .normal)
        #expect(log.events.last == "normal-3 queueFull")
        load("high-2", .high)
        #expect(log.events.last == "normal-2 queueFull")
        load("high-3", .high)
        #expect(log.events.last == "normal-1 queueFull")
        load("high-4", .high)
        #expect(log.events.last == "high-4 queueFull")
        #expect(throttle.snapshot.total == .init(running: 0, waiting: 3))
        throttle.maximumNumberOfRequests = 1
        #expect(terminal.requests.map(\.host) == ["high-1", "high-2", "high-3"])
    }

    @Test(arguments: [nil, 1] as [UInt?])
    func taskPassedOverForItsPatienceStartsNext(perHost: UInt?) {
        let timers = ManualTimers()
        let throttle = Throttle(maximumNumberOfRequests: 1, perHost: perHost, patience: .seconds(5), timers: timers)
        let terminal = ScriptedTerminal()
        let chain = throttle --> terminal
        let log = EventLog()
        func load(_ priority: ThrottlePriority) {
            var request = HTTPRequest.sample
            request.priority = priority
            chain.load(request: request) { _ in log.note("\(priority)") }
        }
        for priority in [.high, .low, .high, .high, .high, .high] as [ThrottlePriority] { load(priority) }
        func answerAfter(_ duration: Duration) {
            timers.advance(by: duration)
            terminal.answer(terminal.held[0])
        }
        // From the first start that passes it over, and not from its arrival.
        answerAfter(.seconds(60))
        answerAfter(.seconds(3))
        answerAfter(.seconds(3))
        #expect(terminal.held.map(\.request.priority) == [.low])
        while !terminal.held.isEmpty { answerAfter(.zero) }
        #expect(log.events == ["high", "high", "high", "low", "high", "high"])
    }

    @Test func portsOfOneHostAreLimitedSeparately() {
        let throttle = Throttle(perHost: 1)
        let terminal = ScriptedTerminal()
        let chain = throttle --> terminal
        for port in [8080, 9090, 8080] { chain.load(request: HTTPRequest(host: "LocalHost", port: port)) { _ in } }
        for port in [nil, 443] { chain.load(request: HTTPRequest(host: "Example.com", port: port)) { _ in } }
        #expect(terminal.held.map(\.request.port) == [8080, 9090, nil])
        #expect(
            throttle.snapshot.hosts == [
                "localhost:8080": .init(running: 1, waiting: 1), "localhost:9090": .init(running: 1),
                "example.com": .init(running: 1, waiting: 1),
            ])
        terminal.answerAll()
        #expect(throttle.snapshot == .init())
    }
}
