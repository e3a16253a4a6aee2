import LoaderChain
import LoaderChainTesting

/// Single loaders of the library, whose settings change meanwhile.
extension Kind {
    static let retry = Kind(name: "retry") { ledger, seed in
        let strategies: [Backoff] = [
            .immediately(maximumNumberOfAttempts: 3), .constant(delay: 0.001, maximumNumberOfAttempts: 3),
            .exponential(delay: 0.001, maximumNumberOfAttempts: 4, maximumDelay: 0.004), .never,
        ]
        var rig = Rig(
            Retry(strategies[0], totalTimeout: .milliseconds(20), budget: .unlimited)
                --> ChanceTerminal(ledger, seed: seed, failures: 40))
        rig.request = { number, random in
            var request = HTTPRequest(host: "stress.test", path: "/\(number % 101)")
            let chance = random.next()
            request.retryStrategy = strategies[Int(chance % 4)]
            if chance & 0x10 == 0 { request.totalTimeout = .milliseconds(1 + Int64(chance >> 8 & 3)) }
            return request
        }
        return rig
    }

    static let throttle = Kind(name: "throttle") { ledger, seed in
        let throttle = Throttle(
            maximumNumberOfRequests: 6, perHost: 3, maximumWaiting: 150, queueTimeout: .milliseconds(200))
        let chain = throttle --> Hop() --> ChanceTerminal(ledger, seed: seed)
        return Rig(chain: chain) { number, random in
            let chance = random.next()
            var request = HTTPRequest(host: "\(chance % 5).test", path: "/\(number % 101)")
            request.priority = [.low, .normal, .high][Int(chance >> 8 % 3)]
            if chance >> 16 % 16 == 0 { request.throttle = .never }
            return request
        } change: { random in
            let chance = random.next()
            switch chance % 4 {
            case 0: throttle.maximumNumberOfRequests = 0
            case 1: throttle.perHost = chance & 0x10 == 0 ? nil : UInt(chance >> 8 % 5)
            case 2: if throttle.snapshot.total.running < 0 { ledger.fail("fewer than none run") }
            default: if throttle.description.isEmpty { ledger.fail("a throttle has no description") }
            }
            // Never 0 for long, or all threads wait for the one that raises it.
            throttle.maximumNumberOfRequests = 1 + UInt(chance >> 24 % 8)
            if throttle.perHost == 0 { throttle.perHost = 1 }
        } open: {
            throttle.maximumNumberOfRequests = .max
            throttle.perHost = nil
        } remains: {
            throttle.snapshot.total == .init() ? nil : "\(throttle.snapshot)"
        }
    }

    static let rateLimit = Kind(name: "rate-limit") { ledger, seed in
        let limit = RateLimit(requests: 100_000, per: .seconds(1), burst: 100, perHost: true, maximumWaiting: 150)
        let chain = limit --> ChanceTerminal(ledger, seed: seed)
        return Rig(chain: chain) { number, random in
            HTTPRequest(host: "\(random.next() % 7).test", path: "/\(number % 101)")
        } change: { random in
            let chance = random.next()
            let requests = [10_000, 50_000, 200_000, 1_000_000][Int(chance % 4)]
            limit.rates = [RateLimit.Rate(requests: requests, per: .seconds(1), burst: 1 + Int(chance >> 8 % 100))]
            if limit.description.isEmpty { ledger.fail("a rate limit has no description") }
        } open: {
            limit.rates = [RateLimit.Rate(requests: 1_000_000, per: .seconds(1), burst: 1_000)]
        } remains: {
            limit.waiting == 0 ? nil : "\(limit.waiting) tasks wait for the rate limit"
        }
    }

    static let deduplicate = Kind(name: "deduplicate") { ledger, seed in
        var rig = Rig(Deduplicate() --> Hop() --> ChanceTerminal(ledger, seed: seed))
        rig.request = { _, random in HTTPRequest(host: "stress.test", path: "/\(random.next() % 5)") }
        return rig
    }

    static let authentication = Kind(name: "authentication") { ledger, seed in
        var rig = Rig(
            BasicAuth(hosts: .all, provider: Credentials()) --> Hop()
                --> BearerAuth(hosts: .all, source: Credentials())
                --> ChanceTerminal(ledger, seed: seed, failures: 3))
        rig.request = { number, random in
            var request = HTTPRequest(host: "stress.test", path: "/\(number % 101)")
            if random.next() % 4 == 0 { request.headers["Authorization"] = "own" }
            return request
        }
        return rig
    }

    static let async = Kind(name: "async") { ledger, seed in
        let terminal = ChanceTerminal(ledger, seed: seed)
        let chain =
            AsyncLoader()
            --> ClosureLoader("Twice") { request, next in
                let response = try await next(request)
                if response.status == .ok { return response }
                await Task.yield()
                return try await next(request)
            } --> terminal
        var rig = Rig(chain)
        rig.change = { [unowned chain] random in
            // The Swift task may begin when all callers have their results, so it holds the chain itself.
            let held = chain
            // A caller that awaits the response, and may be cancelled meanwhile.
            let kept = Ledger.Keepsake(ledger)
            let waiting = Task {
                _ = try? await held.load(HTTPRequest(host: "stress.test", path: "/awaited"))
                kept.use()
            }
            if random.next() % 2 == 0 { waiting.cancel() }
        }
        return rig
    }
}

/// Responds to every call on another thread.
private struct Credentials: BasicCredentialsProvider, TokenSource {
    func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials? {
        await Task.yield()
        return BasicCredentials(user: "user", password: "\(rejected?.password.count ?? 0)")
    }

    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        _ = try? await chain(HTTPRequest(host: "login.test", path: "/token"))
        return BearerToken(accessToken: "\(old?.accessToken.count ?? 0)", lifetime: .milliseconds(50))
    }
}
