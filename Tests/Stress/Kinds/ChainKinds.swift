import Dispatch
import LoaderChain

/// Whole chains, as a program would have them.
extension Kind {
    /// The chain of the guide about throttling.
    static let chain = Kind(name: "chain") { ledger, seed in
        let throttle = Throttle(maximumNumberOfRequests: 4)
        let inFlight = Autocancel()
        let chain =
            ResetGuard() --> inFlight --> throttle
            --> ApplyEnvironment(environment: ServerEnvironment(host: "stress.test", pathPrefix: "/v1"))
            --> Retry(nil) --> Validate(.nothing) --> ChanceTerminal(ledger, seed: seed)
        var rig = Rig(chain: chain) { number, _ in
            var request = HTTPRequest(path: "people/\(number % 101)")
            request.retryStrategy = Backoff.immediately(maximumNumberOfAttempts: 3)
            return request
        } change: { [unowned chain] random in
            throttle.maximumNumberOfRequests = 0
            if chain.description.isEmpty { ledger.fail("a chain has no description") }
            throttle.maximumNumberOfRequests = 1 + UInt(random.next() % 8)
        } open: {
            throttle.maximumNumberOfRequests = .max
        } remains: {
            throttle.snapshot.total == .init() && inFlight.details == "in flight 0"
                ? nil : "\(throttle.details), \(inFlight.details)"
        }
        rig.tasksPerReset = 32_768
        return rig
    }

    static let metrics = Kind(name: "metrics") { ledger, seed in
        let board = MetricBoard(maximumNumberOfRows: 50)
        let stream = MetricStream(capacity: 100)
        let recorder = MetricRecorder(board, stream, CountingSink())
        let throttle = Throttle(maximumNumberOfRequests: 4)
        let chain =
            MetricsTap(recorder, module: "stress", tags: ["kind": "metrics"])
            --> Retry(.constant(delay: 0.001, maximumNumberOfAttempts: 2), budget: .unlimited)
            --> MetricsTap(recorder) --> throttle --> ChanceTerminal(ledger, seed: seed)
        let kept = Ledger.Keepsake(ledger)
        let reader = Task {
            for await record in stream { withExtendedLifetime(record) {} }
            kept.use()
        }
        return Rig(chain: chain) { number, random in
            HTTPRequest(host: "\(random.next() % 3).test", path: "/people/\(number % 101)")
        } change: { random in
            let chance = random.next()
            switch chance % 8 {
            case 0: board.clear()
            case 1: if board.total.count < 0 { ledger.fail("fewer than no requests were counted") }
            case 2: for row in board.rows { withExtendedLifetime(row.summary) {} }
            case 3: recorder.event("change", counters: ["chance": Int64(chance % 7)])
            case 4:
                let trace = recorder.startTrace("change")
                trace.stop()
            case 5:
                let kept = Ledger.Keepsake(ledger)
                Task {
                    await recorder.flush()
                    kept.use()
                }
            default: throttle.maximumNumberOfRequests = 1 + UInt(chance >> 8 % 8)
            }
        } open: {
            throttle.maximumNumberOfRequests = .max
        } remains: {
            guard throttle.snapshot.total == .init() else { return throttle.details }
            stream.finish()
            return reader.isCancelled ? "the reader was cancelled" : nil
        }
    }

    /// Every loader of the library.
    static let everything = Kind(name: "everything") { ledger, seed in
        let throttle = Throttle(maximumNumberOfRequests: 8, perHost: 4)
        let mock = MockLoader()
        let upper: HTTPLoader =
            ResetGuard() --> Autocancel() --> Deduplicate() --> throttle
            --> RateLimit(requests: 1_000_000, per: .seconds(1), burst: 1_000)
        let lower: HTTPLoader =
            Retry(.immediately(maximumNumberOfAttempts: 2), budget: .unlimited)
            --> CircuitBreaker(CircuitBreaker.Settings(openDuration: .milliseconds(1)))
            --> BearerAuth(hosts: .all, source: FixedToken()) --> PrintLoader(bodyLimit: 10) { _ in }
        let chain =
            upper --> MetricsTap(MetricBoard())
            --> ApplyEnvironment(environment: ServerEnvironment(host: "stress.test"))
            --> lower
            --> Choose(by: ThrottlePriority.self, [.normal: Hedge(), .high: AsyncLoader(), .low: ModifyRequest { $0 }])
            --> Validate(.success) --> Rewriter() --> ChanceTerminal(ledger, seed: seed)
        var rig = Rig(chain: chain) { number, random in
            let chance = random.next()
            var request = HTTPRequest(path: "people/\(chance % 11)")
            request.priority = [.low, .normal, .high][Int(chance >> 8 % 3)]
            if chance >> 16 % 64 == 0 { request.host = "\(chance >> 24 % 5).test" }
            return request
        } change: { [unowned chain] random in
            throttle.maximumNumberOfRequests = 1 + UInt(random.next() % 16)
            if chain.description.isEmpty { ledger.fail("a chain has no description") }
            // A mock with its own queue, which several threads fill and empty.
            mock.then(.ok).then(failing: .timedOut)
            let kept = Ledger.Keepsake(ledger)
            mock.load(request: HTTPRequest(host: "stress.test")) { _ in kept.use() }
        } open: {
            throttle.maximumNumberOfRequests = .max
        } remains: {
            throttle.snapshot.total == .init() ? nil : throttle.details
        }
        rig.tasksPerReset = 32_768
        return rig
    }
}

private struct FixedToken: TokenSource {
    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        BearerToken(accessToken: "token")
    }
}

/// Handles records on a queue, one after the other.
private final class CountingSink: MetricSink {
    private let count = Locked(0)
    var isImmediate: Bool { false }
    func record(_ record: MetricRecord) { count.withLock { $0 += 1 } }
}
