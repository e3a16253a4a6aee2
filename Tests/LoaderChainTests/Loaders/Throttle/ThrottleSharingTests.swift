import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Partitions, keys and limits of single hosts, seen from outside.
@Suite(.timeLimit(.minutes(10))) struct ThrottleSharingTests {
    private let terminal = ScriptedTerminal()
    private let log = EventLog()

    private func load(
        _ path: String, with throttle: Throttle, _ prepare: (inout HTTPRequest) -> Void = { _ in }
    ) {
        var request = HTTPRequest(host: "example.com", path: path)
        prepare(&request)
        throttle.load(request: request) { [log] in log.note("\(path) \($0.summary)") }
    }

    private var running: [String] { terminal.held.map(\.request.path) }

    private func answer(_ path: String) {
        for task in terminal.held where task.request.path == path { terminal.answer(task) }
    }

    // MARK: Partitions

    @Test func partitionKeepsItsSlotsFree() {
        let throttle = Throttle(limit: 4, partitions: [ThrottlePartition("user", share: 0.75)])
        throttle --> terminal
        for number in 1...3 { load("/prefetch-\(number)", with: throttle) }
        #expect(running == ["/prefetch-1"])
        // The user's slots were free, although a prefetch waits.
        for number in 1...3 { load("/user-\(number)", with: throttle) { $0.throttlePartition = "user" } }
        #expect(running == ["/prefetch-1", "/user-1", "/user-2", "/user-3"])
        #expect(throttle.snapshot.partitions == ["user": .init(running: 3)])
        load("/user-4", with: throttle) { $0.throttlePartition = "user" }
        answer("/user-1")
        #expect(running.last == "/user-4")
        answer("/prefetch-1")
        #expect(running.last == "/prefetch-2")
        terminal.answerAll()
        #expect(throttle.snapshot == .init(partitions: ["user": .init()]))
    }

    @Test func lendingPartitionGetsTheNextSlot() {
        let throttle = Throttle(limit: 2, partitions: [ThrottlePartition("user", share: 1, lends: true)])
        throttle --> terminal
        for number in 1...4 { load("/prefetch-\(number)", with: throttle) { $0.priority = .high } }
        #expect(running == ["/prefetch-1", "/prefetch-2"])
        load("/user", with: throttle) { $0.throttlePartition = "user" }
        answer("/prefetch-1")
        #expect(running == ["/prefetch-2", "/user"])
        answer("/user")
        #expect(running == ["/prefetch-2", "/prefetch-3"])
        terminal.answerAll()
    }

    /// What is left of whole slots is for the others, who can count on nothing.
    @Test func sharesBeyondTheWholeAreReducedInProportion() {
        let throttle = Throttle(
            limit: 4, partitions: [ThrottlePartition("a", share: 1), ThrottlePartition("b", share: 1)])
        throttle --> terminal
        for number in 1...3 { load("/a-\(number)", with: throttle) { $0.throttlePartition = "a" } }
        load("/other", with: throttle)
        #expect(running == ["/a-1", "/a-2"])
        for number in 1...3 { load("/b-\(number)", with: throttle) { $0.throttlePartition = "b" } }
        #expect(running == ["/a-1", "/a-2", "/b-1", "/b-2"])
        terminal.answerAll()
        #expect(log.events.count == 6 && throttle.snapshot.total == .init(waiting: 1))
        // Half of five, rounded down, is two for each.
        throttle.maximumNumberOfRequests = 5
        #expect(running == ["/other"])
        terminal.answerAll()
    }

    @Test func fullQueueOfPartitionDoesNotAffectAnother() {
        let throttle = Throttle(
            limit: 0, partitions: [ThrottlePartition("user", share: 0.5)], maximumWaiting: 2)
        throttle --> terminal
        for number in 1...3 { load("/prefetch-\(number)", with: throttle) }
        load("/user", with: throttle) { $0.throttlePartition = "user" }
        load("/unknown", with: throttle) { $0.throttlePartition = "nobody's" }
        #expect(log.events == ["/prefetch-3 queueFull", "/unknown queueFull"])
        throttle.maximumNumberOfRequests = 9
        #expect(running == ["/user", "/prefetch-1", "/prefetch-2"])
        terminal.answerAll()
    }

    @Test func reservedSlotIsFreedOncePartitionHasAnother() {
        let throttle = Throttle(limit: 2, partitions: [ThrottlePartition("user", share: 0.5)])
        throttle.hostLimits["busy.com"] = 1
        throttle --> terminal
        load("/1", with: throttle) { $0.host = "busy.com" }
        load("/user", with: throttle) { ($0.host, $0.throttlePartition) = ("busy.com", "user") }
        load("/2", with: throttle)
        #expect(running == ["/1"])
        answer("/1")
        #expect(running == ["/user", "/2"])
        terminal.answerAll()
    }

    @Test(arguments: [-1, 0, 0.1, 1, 7, .infinity, .nan] as [Double])
    func invalidSharesStillCompleteEveryTask(share: Double) {
        let settings = [
            ThrottlePartition("a", share: share), ThrottlePartition("a", share: 1),
            ThrottlePartition("b", share: share),
        ]
        let throttle = Throttle(limit: 3, partitions: settings)
        throttle --> terminal
        for limit in [3, .max, 0, 1 << 40, 1] as [UInt] {
            throttle.maximumNumberOfRequests = limit
            for name in ["a", "b", nil] { for _ in 0..<3 { load("/", with: throttle) { $0.throttlePartition = name } } }
        }
        throttle.maximumNumberOfRequests = .max
        terminal.answerAll()
        #expect(log.events.count == 45 && throttle.snapshot.total == .init())
    }

    // MARK: Keys and limits of single hosts

    @Test func hostLimitOverridesPerHostLimit() {
        let throttle = Throttle(perHost: 2)
        throttle --> terminal
        throttle.hostLimits = ["Slow.com": 1, "wide.com:8080": 3]
        for number in 1...4 {
            load("/slow-\(number)", with: throttle) { $0.host = "slow.COM" }
            load("/wide-\(number)", with: throttle) { ($0.host, $0.port) = ("wide.com", 8080) }
            load("/other-\(number)", with: throttle) { $0.host = "wide.com" }
        }
        let counts = throttle.snapshot.hosts.mapValues(\.running)
        #expect(counts == ["slow.com": 1, "wide.com:8080": 3, "wide.com": 2])
        #expect(throttle.hostLimits == ["Slow.com": 1, "wide.com:8080": 3])
        throttle.hostLimits["Slow.com"] = nil
        #expect(throttle.snapshot.hosts["slow.com"]?.running == 2)
        terminal.answerAll()
    }

    @Test func firstHostLimitAppliesToWaitingTasks() {
        let throttle = Throttle(maximumNumberOfRequests: 0)
        throttle --> terminal
        for number in 1...3 { load("/\(number)", with: throttle) { $0.throttleKey = number < 3 ? "search" : nil } }
        throttle.hostLimits["search"] = 1
        throttle.maximumNumberOfRequests = .max
        #expect(running == ["/1", "/3"])
        terminal.answerAll()
        #expect(log.events.last == "/2 response")
    }

    @Test func throttleKeyIsCountedApartFromHosts() {
        let throttle = Throttle(perHost: 1)
        throttle --> terminal
        load("/users", with: throttle)
        load("/search", with: throttle) { $0.throttleKey = "search" }
        load("/hidden", with: throttle) { $0.throttleKey = "example.com" }
        load("/search-2", with: throttle) { ($0.throttleKey, $0.host) = ("search", "other.com") }
        #expect(running == ["/users", "/search", "/hidden"])
        #expect(throttle.snapshot.hosts == ["example.com": .init(running: 2), "search": .init(running: 1, waiting: 1)])
        terminal.answerAll()
        #expect(throttle.snapshot == .init())
    }

    @Test func throttleKeyHasItsOwnAdaptiveLimit() {
        let throttle = Throttle(limit: .fixed(.max), perHost: .adaptive(AdaptiveLimit(initial: 2)))
        throttle --> terminal
        for _ in 1...3 { load("/", with: throttle) { $0.throttleKey = "search" } }
        #expect(running.count == 2)
        #expect(throttle.adaptiveStatus.hosts.keys.sorted() == ["search"])
        terminal.answerAll()
    }
}
