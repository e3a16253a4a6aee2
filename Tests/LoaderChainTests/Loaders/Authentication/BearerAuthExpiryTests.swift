import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct BearerAuthExpiryTests {
    private let timers = ManualTimers()
    private let questions = Counter()
    private let terminal = ScriptedTerminal { _ in .success() }

    /// A chain whose source gives out tokens named by their number.
    private func auth(
        lifetime: Duration?, obtained: Duration? = nil, leeway: Duration = .seconds(10),
        store: any CredentialStore<BearerToken> = MemoryCredentialStore<BearerToken>()
    ) -> BearerAuth {
        let questions = questions
        let obtained = obtained.map { timers.date.addingTimeInterval($0 / .seconds(1)) }
        let source = ClosureSource<BearerToken> { _, _ in
            BearerToken(accessToken: "\(questions.next())", lifetime: lifetime, obtained: obtained)
        }
        let auth = BearerAuth(hosts: .all, source: source, store: store, leeway: leeway, timers: timers)
        _ = auth --> terminal
        return auth
    }

    private func sent(_ chain: HTTPLoader) async throws -> String? {
        try await chain.load(.sample).request.headers["Authorization"]
    }

    @Test func tokenIsReplacedBeforeItExpires() async throws {
        let auth = auth(lifetime: .seconds(60))
        #expect(auth.state == .idle)
        #expect(try await sent(auth) == "Bearer 1")
        timers.advance(by: .seconds(50) - .nanoseconds(1))
        #expect(auth.state == .authorized)
        #expect(try await sent(auth) == "Bearer 1")
        timers.advance(by: .nanoseconds(1))
        #expect(auth.state == .expired)
        #expect(try await sent(auth) == "Bearer 2")
        timers.advance(by: .seconds(49))
        #expect(try await sent(auth) == "Bearer 2")
        #expect(timers.pendingCount == 0)
    }

    /// With the settings as they are.
    @Test func tokenIsReplacedHalfAMinuteBeforeItsEnd() async throws {
        let questions = questions
        let source = ClosureSource<BearerToken> { _, _ in
            BearerToken(accessToken: "\(questions.next())", lifetime: .seconds(3_600))
        }
        let chain = BearerAuth(hosts: .all, source: source, timers: timers) --> terminal
        #expect(try await sent(chain) == "Bearer 1")
        timers.advance(by: .seconds(3_570) - .nanoseconds(1))
        #expect(try await sent(chain) == "Bearer 1")
        timers.advance(by: .nanoseconds(1))
        #expect(try await sent(chain) == "Bearer 2")
    }

    @Test func descriptionTellsThatTokenIsDue() async throws {
        let auth = auth(lifetime: .seconds(60))
        _ = try await sent(auth)
        #expect(auth.state == .authorized && auth.details == "authorized")
        timers.advance(by: .seconds(50))
        #expect(auth.state == .expired && auth.details == "expired")
    }

    @Test func shortLivedTokenIsUsedForHalfItsLifetime() async throws {
        let auth = auth(lifetime: .seconds(4))
        #expect(try await sent(auth) == "Bearer 1")
        timers.advance(by: .milliseconds(1999))
        #expect(try await sent(auth) == "Bearer 1")
        timers.advance(by: .milliseconds(1))
        #expect(try await sent(auth) == "Bearer 2")
    }

    @Test(arguments: [nil, .zero, .seconds(-5)] as [Duration?])
    func tokenWithoutPositiveLifetimeNeverExpires(_ lifetime: Duration?) async throws {
        let auth = auth(lifetime: lifetime)
        _ = try await sent(auth)
        timers.advance(by: .seconds(1_000_000_000))
        #expect(try await sent(auth) == "Bearer 1")
    }

    @Test func longestLifetimesDoNotOverflow() async throws {
        for lifetime in [Duration(attoseconds: .max), .seconds(Int64.max)] {
            let token = BearerToken(accessToken: "a", lifetime: lifetime, obtained: .distantPast)
            #expect(token.remainingUse(at: .distantFuture, leeway: .seconds(Int64.max)) == .zero)
            #expect(try #require(token.remainingUse(at: .distantPast, leeway: .seconds(-1))) > .seconds(1_000_000_000))
        }
        let auth = auth(lifetime: .seconds(Int64.max))
        #expect(try await sent(auth) == "Bearer 1")
        #expect(try await sent(auth) == "Bearer 1")
    }

    @Test func wallClockChangeDoesNotExpireToken() async throws {
        let auth = auth(lifetime: .seconds(60))
        _ = try await sent(auth)
        for step in [Duration.seconds(-100_000), .seconds(1_000_000)] {
            timers.stepDate(by: step)
            #expect(try await sent(auth) == "Bearer 1")
        }
    }

    @Test func storedTokenExpiresByItsObtainedDate() async throws {
        func first(_ age: Double) async throws -> String? {
            let obtained = timers.date.addingTimeInterval(-age)
            let stored = BearerToken(accessToken: "stored", lifetime: .seconds(60), obtained: obtained)
            return try await sent(auth(lifetime: nil, store: MemoryCredentialStore(stored)))
        }
        #expect(try await first(0) == "Bearer stored")
        #expect(try await first(49.5) == "Bearer stored")
        #expect(try await first(50) == "Bearer 1")
        #expect(try await first(1e300) == "Bearer 2")
    }

    @Test func storedTokenWithFutureDateExpiresAfterItsLifetime() async throws {
        let obtained = timers.date.addingTimeInterval(1_000_000)
        let stored = BearerToken(accessToken: "stored", lifetime: .seconds(60), obtained: obtained)
        let auth = auth(lifetime: nil, store: MemoryCredentialStore(stored))
        #expect(try await sent(auth) == "Bearer stored")
        timers.advance(by: .seconds(50))
        #expect(try await sent(auth) == "Bearer 1")
    }

    @Test func sourceOfExpiredTokensIsAskedOncePerTask() async throws {
        let auth = auth(lifetime: .seconds(60), obtained: .seconds(-100))
        for number in 1...3 { #expect(try await sent(auth) == "Bearer \(number)") }
    }
}
