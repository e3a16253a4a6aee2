import Foundation
import LoaderChain
import LoaderChainTesting

// What the samples take for given.

let url = URL(filePath: "/")
let request = HTTPRequest(host: "api.example.com", path: "/v1/users")
let task = HTTPTask(request: request)
let terminal = ScriptedTerminal { _ in .success() }
let chain = HTTPLoader() --> terminal
let loader = chain
let timers = ManualTimers()
let isDebugging = true

let resetGuard = HTTPLoader()
let throttle = HTTPLoader()
let retry = HTTPLoader()
let urlSessionLoader = terminal

final class MyLoader: HTTPLoader, @unchecked Sendable {}

/// A client that a loopback server is to serve.
struct Client: Sendable {
    func load(_ url: URL) async throws -> Data { try await chain.load(HTTPRequest(url: url)).body }
}
let client = Client()
nonisolated(unsafe) var server = LoopbackServer.sample

struct User: Codable, Sendable { var name: String }
let newUser = User(name: "Ada")

func signature(of request: HTTPRequest) async throws -> String { "\(request.path.count)" }
func newTraceID() -> String { "1" }

extension LoopbackServer {
    /// Only ever compiled.
    static var sample: LoopbackServer { fatalError("samples do not run") }
}
