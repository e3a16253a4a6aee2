import Dispatch
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// Both loaders keep the contract with every kind of source or provider.
@Suite(.timeLimit(.minutes(10))) struct AuthenticationContractTests {
    private struct Mishap: Error {}

    enum Manner: CaseIterable { case atOnce, later, failing, empty, neverGood }

    private static func answer<Credential: Sendable>(
        _ manner: Manner, _ credential: Credential
    ) -> ClosureSource<Credential> {
        return ClosureSource { _, _ in
            switch manner {
            case .atOnce, .neverGood: return credential
            case .later:
                await withUnsafeContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
                return credential
            case .failing: throw Mishap()
            case .empty: return nil
            }
        }
    }

    @Test(arguments: Manner.allCases)
    func bearerAuthKeepsTheContract(_ manner: Manner) async {
        let violations = await ContractCheck(patience: .patient) { timers in
            let source = Self.answer(manner, BearerToken(accessToken: "a", lifetime: .seconds(1)))
            let auth = BearerAuth(hosts: .all, source: source, timers: timers)
            return manner == .neverGood ? auth --> Rejecting() : auth
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test(arguments: Manner.allCases)
    func basicAuthKeepsTheContract(_ manner: Manner) async {
        let violations = await ContractCheck(patience: .patient) { _ in
            let provider = Self.answer(manner, BasicCredentials(user: "a", password: "b"))
            let auth = BasicAuth(hosts: .all, provider: provider)
            return manner == .neverGood ? auth --> Rejecting() : auth
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func bearerAuthKeepsTheContractWithAFlow() async throws {
        let endpoint = try #require(URL(string: "https://login.test/token"))
        let violations = await ContractCheck(patience: .patient) { timers in
            let login = ClosureLoader("login") { request, next in
                guard request.path == "/token" else { return try await next(request) }
                let body = Data(#"{"access_token":"a","expires_in":"60"}"#.utf8)
                return HTTPResponse(request: request, status: .ok, body: body)
            }
            let source = ClientCredentialsFlow(endpoint: endpoint, client: OAuthClient(id: "a", secret: "b"))
            return BearerAuth(hosts: .all, source: source, timers: timers) --> login
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func basicAuthKeepsTheContractWithoutProvider() async {
        for auth in [{ BasicAuth() }, { BasicAuth(hosts: .all) }] as [@Sendable () -> BasicAuth] {
            let violations = await ContractCheck(patience: .patient) { _ in auth() }.run()
            #expect(violations.isEmpty, "\(violations)")
        }
    }
}

/// Rejects whatever is sent, except for most of a long run: each rejection costs several questions, and a thousand of them
/// show as much as twenty thousand.
private final class Rejecting: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        if task.request.path.utf8.count <= "/999".utf8.count {
            task.addResultFilter { result in
                result.map { HTTPResponse(request: $0.request, status: .unauthorized) }
            }
        }
        super.load(task: task)
    }
}
