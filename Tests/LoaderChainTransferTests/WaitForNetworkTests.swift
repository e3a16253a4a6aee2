import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) final class WaitForNetworkTests {
    private let timers = ManualTimers()
    private let network = ManualNetwork()
    private let terminal = ScriptedTerminal()
    private let log = EventLog()

    deinit {
        network.isAvailable = true
        // A task that never ends keeps the chain that it is in, and that chain its terminal, which holds the task.
        while let task = terminal.held.first { terminal.refuse(task, .cancelled) }
    }

    private func loader(upTo limit: Duration? = .seconds(60), maximumWaiting: Int = 1_000) -> WaitForNetwork {
        let loader = WaitForNetwork(
            upTo: limit, maximumWaiting: maximumWaiting, restartSpread: .zero, network: network, timers: timers)
        loader --> terminal
        return loader
    }

    @discardableResult
    private func load(_ chain: HTTPLoader, _ path: String, host: String = "a.test") -> HTTPTask {
        chain.load(request: HTTPRequest(host: host, path: path)) { [log] in
            log.note(path + " " + ($0.error.map { "\($0.code)" } ?? "\($0.response?.status.rawValue ?? 0)"))
        }
    }

    private var sent: [String] { terminal.requests.map(\.path) }

    @Test func requestsPassAtOnceWithNetwork() {
        load(loader(), "/1")
        #expect(sent == ["/1"] && network.watches == 0 && timers.pendingCount == 0)
    }

    @Test func requestsWaitForNetworkAndPassInOrder() {
        let loader = loader()
        network.isAvailable = false
        for path in ["/1", "/2", "/3"] { load(loader, path) }
        #expect(sent.isEmpty && loader.waiting == 3 && network.watches == 1 && timers.pendingCount == 3)
        #expect(loader.details == "offline, waiting 3")
        network.isAvailable = true
        #expect(sent == ["/1", "/2", "/3"] && loader.waiting == 0 && network.watches == 0 && timers.pendingCount == 0)
        // And again.
        network.isAvailable = false
        load(loader, "/4")
        #expect(network.watches == 1)
        network.isAvailable = true
        #expect(sent.last == "/4" && network.watches == 0)
    }

    @Test func requestsRestartAfterRandomDelay() {
        let delays = (UInt64(0)..<200).map { seed in
            let loader = WaitForNetwork(
                restartSpread: .seconds(1), network: network, timers: timers, random: RandomSource(seed: seed))
            loader --> terminal
            network.isAvailable = false
            let before = sent.count
            for path in ["/1", "/2"] { load(loader, path) }
            network.isAvailable = true
            var delay = 0
            while loader.waiting > 0, delay < 1_000 {
                timers.advance(by: .milliseconds(1))
                delay += 1
            }
            #expect(sent.count == before + 2 && sent.suffix(2) == ["/1", "/2"])
            return delay
        }
        #expect(delays.min()! < 50 && delays.max()! > 950 && delays.max()! < 1_000)
        #expect((400...600).contains(delays.reduce(0, +) / 200))
    }

    @Test func restartWaitsIfNetworkIsLostAgain() {
        let loader = WaitForNetwork(
            restartSpread: .seconds(1), network: network, timers: timers, random: RandomSource(seed: 1))
        loader --> terminal
        network.isAvailable = false
        load(loader, "/1")
        network.isAvailable = true
        network.isAvailable = false
        timers.advance(by: .seconds(2))
        #expect(sent.isEmpty && loader.waiting == 1)
        network.isAvailable = true
        timers.advance(by: .seconds(2))
        #expect(sent == ["/1"] && network.watches == 0)
    }

    @Test func retriedRequestWaitsBelowRetryUntilNetworkReturns() {
        let retry = Retry(.exponential(maximumNumberOfAttempts: 2), timers: timers)
        retry --> loader()
        load(retry, "/1")
        network.isAvailable = false
        terminal.refuse(terminal.held[0], .connectionLost)
        timers.advance(by: .seconds(30))
        #expect(sent == ["/1"] && log.events.isEmpty)
        network.isAvailable = true
        terminal.answer(terminal.held[0])
        #expect(sent == ["/1", "/1"] && log.events == ["/1 200"])
    }

    @Test func completedRequestDoesNotAffectWaitingRequest() async {
        let loader = loader()
        network.isAvailable = false
        load(loader, "/1")
        network.isAvailable = true
        network.isAvailable = false
        load(loader, "/2")
        terminal.answer(await terminal.next())
        #expect(log.events == ["/1 200"] && loader.waiting == 1)
        network.isAvailable = true
        #expect(sent == ["/1", "/2"])
    }

    @Test func requestFailsAfterMaximumWait() {
        let loader = loader(upTo: .seconds(5))
        network.isAvailable = false
        load(loader, "/1")
        timers.advance(by: .seconds(3))
        load(loader, "/2")
        timers.advance(by: .seconds(2))
        #expect(log.events == ["/1 cannotConnect"] && loader.waiting == 1)
        timers.advance(by: .seconds(3))
        #expect(log.events.count == 2 && loader.waiting == 0 && network.watches == 0)
    }

    /// With the settings as they are.
    @Test func requestWaitsForAMinuteAtMost() {
        let loader = WaitForNetwork(network: network, timers: timers)
        loader --> terminal
        network.isAvailable = false
        load(loader, "/1")
        timers.advance(by: .seconds(60) - .nanoseconds(1))
        #expect(log.events.isEmpty && loader.waiting == 1)
        timers.advance(by: .nanoseconds(1))
        #expect(log.events == ["/1 cannotConnect"] && loader.waiting == 0)
    }

    /// With the settings as they are: the devices of a building return within half a second, but not all at once.
    @Test func requestsRestartWithinHalfASecond() {
        var waiting = 0
        for seed in 0..<20 as Range<UInt64> {
            let loader = WaitForNetwork(network: network, timers: timers, random: RandomSource(seed: seed))
            loader --> terminal
            network.isAvailable = false
            load(loader, "/1")
            network.isAvailable = true
            timers.advance(by: .milliseconds(250))
            waiting += loader.waiting
            timers.advance(by: .milliseconds(250))
            #expect(loader.waiting == 0)
        }
        #expect((3...17).contains(waiting) && sent.count == 20)
    }

    @Test func waitWithoutLimitLastsUntilNetworkIsAvailable() {
        network.isAvailable = false
        load(loader(upTo: nil), "/1")
        timers.advance(by: .seconds(1_000_000))
        #expect(timers.pendingCount == 0 && log.events.isEmpty)
        network.isAvailable = true
        #expect(sent == ["/1"])
    }

    @Test func requestBeyondMaximumWaitingFails() {
        let loader = loader(maximumWaiting: 1)
        network.isAvailable = false
        load(loader, "/1")
        load(loader, "/2")
        #expect(log.events == ["/2 cannotConnect"] && loader.waiting == 1)
    }

    @Test func cancelOrDeadlineEndsWait() {
        let loader = loader()
        network.isAvailable = false
        let task = load(loader, "/1")
        load(loader, "/2")
        task.cancel()
        #expect(log.events == ["/1 cancelled"] && loader.waiting == 1 && network.watches == 1)
        var request = HTTPRequest(host: "a.test", path: "/3")
        request.deadline = .after(.seconds(1), on: timers)
        loader.load(request: request) { [log] in log.note("\($0.error?.code ?? .unknown)") }
        timers.advance(by: .seconds(1))
        #expect(log.events.last == "deadlineExceeded" && loader.waiting == 1)
        network.isAvailable = true
        #expect(sent == ["/2"] && timers.pendingCount == 0)
    }

    @Test func resetEndsAllWaits() async {
        let loader = loader()
        network.isAvailable = false
        load(loader, "/1")
        load(loader, "/2")
        await loader.reset()
        #expect(log.events == ["/1 resetInProgress", "/2 resetInProgress"] && network.watches == 0)
        load(loader, "/3")
        network.isAvailable = true
        #expect(sent == ["/3"])
    }

    @Test func requestToLocalhostDoesNotWait() {
        network.isAvailable = false
        load(loader(), "/1", host: "127.0.0.1")
        #expect(sent == ["/1"])
    }

    @Test func networkReturningDuringCheckIsNotMissed() {
        // It says no once, and is there by the time that the watch begins.
        let loader = WaitForNetwork(restartSpread: .zero, network: FickleNetwork(), timers: timers)
        loader --> terminal
        load(loader, "/1")
        #expect(sent == ["/1"] && loader.waiting == 0)
    }

    /// Threads that load, cancel and reset while the network comes and goes: each request has one result.
    @Test func everyRequestEndsOnce() async {
        let loader = loader(upTo: .seconds(10))
        let echo = WaitForNetwork(restartSpread: .zero, network: network, timers: timers)
        echo --> ClosureLoader { request, _ in HTTPResponse(request: request, status: .ok) }
        let ended = Awaited(0)
        let count = 400
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask { [network] in
                    for number in 0..<count / 4 {
                        let task = echo.load(request: HTTPRequest(host: "a.test")) { _ in ended.change { $0 += 1 } }
                        if number % 3 == 0 { task.cancel() }
                        if thread == 0 { network.isAvailable.toggle() }
                        if thread == 1, number % 10 == 0 { await echo.reset() }
                    }
                }
            }
        }
        network.isAvailable = false
        network.isAvailable = true
        await ended.wait { $0 == count }
        #expect(echo.waiting == 0 && network.watches == 0 && timers.pendingCount == 0)
        withExtendedLifetime(loader) {}
    }
}

/// Says that there is no network when it is asked for the first time, and never tells of a change.
private final class FickleNetwork: NetworkSource {
    private let asked = Locked(false)
    var isAvailable: Bool { asked.withLock { replace(&$0, with: true) } }
    func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch { NetworkWatch {} }
}
