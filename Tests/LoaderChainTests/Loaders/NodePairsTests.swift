import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// Every loader of this module, before and after every other and a second one of its own kind; terminals only after others.
///
/// One pair at a time, because many at once would delay the tests that run with them.
@Suite(.serialized, .timeLimit(.minutes(10))) struct NodePairsTests {
    @Test(arguments: testSample(Node.pairs))
    func everyPairKeepsTheContract(upper: Node, lower: Node) async {
        let violations = await ContractCheck(
            seed: Node.seed(upper, lower), patience: .patient,
            mayLeaveCancelledTasks: upper.leavesCancelledTasks || lower.leavesCancelledTasks, tasks: 300
        ) { timers in
            upper.make(timers) --> lower.make(timers)
        }.run()
        #expect(violations.isEmpty, "\(upper.name) --> \(lower.name): \(violations)")
    }

    @Test func pairsCoverEveryPublicLoader() throws {
        let names = Node.all.map { $0.make(ManualTimers()).name }
        let loaders = try LoaderSources.publicLoaders()
        #expect(loaders.contains("Throttle") && loaders.subtracting(names) == [])
    }
}

/// A network that is gone at every other look, and comes back as soon as it is watched.
private final class FlickeringNetwork: NetworkSource {
    private let isUp = Locked(false)

    var isAvailable: Bool {
        isUp.withLock { isUp in
            isUp.toggle()
            return isUp
        }
    }

    func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch {
        onChange(true)
        return NetworkWatch {}
    }
}

/// A loader as the pairs have it, with settings that make it do its work.
struct Node: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether it completes a cancelled task at once and leaves the execution to others; see ``ContractCheck``.
    var leavesCancelledTasks = false
    let make: @Sendable (ManualTimers) -> HTTPLoader

    var testDescription: String { name }

    /// What the random part does is different for each pair.
    static func seed(_ upper: Node, _ lower: Node) -> UInt64 {
        (upper.name + lower.name).utf8.reduce(1) { $0 &* 31 &+ UInt64($1) }
    }

    /// All ordered pairs, in an order in which one in ten has something of everything.
    static var pairs: [(upper: Node, lower: Node)] {
        var generator = SeededGenerator(seed: 26)
        return passingOn.flatMap { upper in all.map { (upper, $0) } }.shuffled(using: &generator)
    }

    /// All that other loaders may come after.
    static var passingOn: [Node] { all.filter { !$0.make(ManualTimers()).isTerminal } }

    static let all: [Node] = [
        Node(name: "HTTPLoader") { _ in HTTPLoader() },
        Node(name: "AsyncLoader") { _ in AsyncLoader() },
        Node(name: "ClosureLoader") { _ in ClosureLoader { try await $1($0) } },
        Node(name: "ResetGuard") { _ in ResetGuard() },
        Node(name: "Autocancel") { _ in Autocancel() },
        Node(name: "Throttle") { Throttle(maximumNumberOfRequests: 1, timers: $0) },
        Node(name: "Throttle per host") {
            Throttle(maximumNumberOfRequests: 3, perHost: 2, maximumWaiting: 5, queueTimeout: .seconds(1), timers: $0)
        },
        Node(name: "Throttle with partitions") {
            let partitions = [ThrottlePartition("user", share: 0.5)]
            return Throttle(limit: 4, perHost: 3, partitions: partitions, timers: $0, onEvent: { _ in })
        },
        Node(name: "AttemptWatch") { AttemptWatch(Throttle(limit: .adaptive(), timers: $0)) },
        Node(name: "RateLimit") { RateLimit(requests: 100, per: .seconds(1), burst: 2, timers: $0) },
        Node(name: "RateLimit by servers' quotas") { RateLimit(timers: $0) },
        Node(name: "CircuitBreaker") {
            let settings = CircuitBreaker.Settings(minimumNumberOfCalls: 2, openDuration: .seconds(1))
            return CircuitBreaker(settings, timers: $0, random: RandomSource(seed: 1))
        },
        Node(name: "ApplyEnvironment") { _ in
            ApplyEnvironment(environment: ServerEnvironment(host: "contract.test", headers: ["X-Client": "1"]))
        },
        Node(name: "ModifyRequest") { _ in
            ModifyRequest { request in
                var request = request
                request.headers["User-Agent"] = "Contract/1.0"
                return request
            }
        },
        Node(name: "ModifyRequest with a deadline") { timers in
            ModifyRequest { request in
                var request = request
                request.deadline = .after(.seconds(5), on: timers)
                return request
            }
        },
        Node(name: "KeepCookies") { timers in
            let jar = CookieJar(timers: timers)
            jar.insert("n=1", for: HTTPRequest(host: "contract.test"))
            return KeepCookies(in: jar)
        },
        Node(name: "DeadlineHeader") { _ in DeadlineHeader() },
        Node(name: "TraceContext") { _ in
            TraceContext(hosts: .all, formats: [.w3c, .b3Multi], random: RandomSource(seed: 1))
        },
        Node(name: "Retry") { timers in
            let budget = RetryBudget(ratio: 1, minimumPerSecond: 1_000, timers: timers)
            let strategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: 3)
            return Retry(strategy, totalTimeout: .seconds(10), budget: budget, timers: timers)
        },
        Node(name: "Hedge") { timers in
            let settings = Hedge.Settings(quantile: 0.5, share: 1, minimumNumberOfSamples: 1, minimumDelay: .zero)
            return Hedge(settings, timers: timers)
        },
        Node(name: "WaitForNetwork") {
            WaitForNetwork(upTo: .seconds(1), network: FlickeringNetwork(), timers: $0)
        },
        Node(name: "ResumableDownload") { ResumableDownload(timers: $0, random: RandomSource(seed: 1)) },
        Node(name: "Validate") { _ in Validate(.success) },
        Node(name: "Choose") { _ in
            Choose(by: ThrottlePriority.self, [.normal: ModifyRequest { $0 }, .high: HTTPLoader()])
        },
        Node(name: "BasicAuth") { _ in
            BasicAuth(hosts: .all, provider: ClosureSource { _, _ in BasicCredentials(user: "a", password: "b") })
        },
        Node(name: "BearerAuth") { timers in
            let source = ClosureSource { _, _ in BearerToken(accessToken: "a", lifetime: .seconds(1)) }
            return BearerAuth(hosts: .all, source: source, timers: timers)
        },
        // A follower that is cancelled disturbs no other, so it cannot wait for what others still want.
        Node(name: "Deduplicate", leavesCancelledTasks: true) { _ in Deduplicate() },
        Node(name: "PrintLoader") { PrintLoader(bodyLimit: 10, timers: $0) { _ in } },
        Node(name: "MetricsTap") { timers in
            MetricsTap(MetricRecorder(MetricBoard(timers: timers), ClosureSink { _ in }, timers: timers))
        },
        Node(name: "MockLoader") { _ in MockLoader() },
        Node(name: "MockLoader with handlers") { _ in
            let mock = MockLoader()
            for _ in 0..<600 { mock.then(.ok) }
            return mock
        },
    ]
}
