import Foundation
import InfluxReporting
import LoaderChain
import LoaderChainTesting
import ReportOutbox

// The names that the samples use. By default, an app's code may belong to the main actor.

let url = URL(filePath: "/")
nonisolated(unsafe) var request = HTTPRequest(host: "api.example.com", path: "/v1/users")
nonisolated let task = HTTPTask(request: request)
let terminal = ScriptedTerminal { _ in .success() }
let chain = HTTPLoader() --> terminal
let loader = chain
let timers = ManualTimers()
let isDebugging = true

let resetGuard = ResetGuard()
let throttle = Throttle(maximumNumberOfRequests: 4)
let environment = ApplyEnvironment(environment: ServerEnvironment(host: "api.example.com"))
let strategy = Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 3)
let retry = Retry(strategy)
let basicAuth = HTTPLoader()
let bearerAuth = HTTPLoader()
let otherTerminal = ScriptedTerminal { _ in .success() }
let urlSessionLoader = terminal

final class MyLoader: HTTPLoader, @unchecked Sendable {}

/// A client to test against a loopback server.
struct Client: Sendable {
    func load(_ url: URL) async throws -> Data { try await chain.load(HTTPRequest(url: url)).body }
}
let client = Client()
nonisolated(unsafe) var server = LoopbackServer.sample

nonisolated struct User: Codable, Sendable { var name: String }
let newUser = User(name: "Ada")

func signature(of request: HTTPRequest) async throws -> String { "\(request.path.count)" }
nonisolated func newTraceID() -> String { "1" }

nonisolated extension LoopbackServer {
    /// Only ever compiled.
    static var sample: LoopbackServer { fatalError("samples do not run") }
}

// For authentication.

let password = "password"
let secret = "secret"
let token = "token"
let tokenURL = url

struct Vault: Sendable {
    func read(_ name: String) async throws -> BearerToken? { nil }
    func write(_ token: BearerToken, as name: String) async throws {}
    func remove(_ name: String) async throws {}
}

#if !canImport(Security)
    nonisolated extension CredentialStore {
        /// Stands for the keychain where there is none.
        static func keychain<Credential>(
            service: String
        ) -> Self where Self == MemoryCredentialStore<Credential> { MemoryCredentialStore() }
    }
#endif

nonisolated struct Person: Codable, Sendable { var name: String }
nonisolated struct Article: Codable, Sendable { var title: String }
let article = Article(title: "Loaders")
let file = url
let folder = url
let photo = url
nonisolated let mock = MockLoader()
nonisolated func show(_ share: Double?) {}
nonisolated struct TokenSourceSample: TokenSource {
    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        BearerToken(accessToken: "")
    }
}
let source = TokenSourceSample()

func signInWithBrowser() async throws -> BearerToken { BearerToken(accessToken: "token") }
func showSheet(wasWrong: Bool) async -> BasicCredentials? { nil }

// For an outbox.

let data = Data("report".utf8)
nonisolated(unsafe) var settings = OutboxSettings()
nonisolated let outbox = ReportOutbox.sample

nonisolated extension ReportOutbox {
    /// Only ever compiled.
    static var sample: ReportOutbox { fatalError("samples do not run") }
}

// For monitoring.

let destination = InfluxDestination.sample
let writer = InfluxWriter(destination: destination, chain: chain)

extension InfluxDestination {
    /// Only ever compiled.
    static var sample: InfluxDestination { fatalError("samples do not run") }
}
