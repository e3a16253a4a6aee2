import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession

/// Responses that crash the session.
enum Faults {
    static func answer(to name: String) async throws -> String {
        let server = try LoopbackServer()
        server.route("/mid-head") { _ in .ok("hello").hangingUp(at: .head(20)) }
        server.route("/trailers") { _ in .chunks(["hello"], trailers: ["X-Sum": "1"]) }
        server.route("/endless") { _ in
            .verbatim("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello")
        }
        server.route("/fine") { _ in .ok("hello") }
        let loader = URLSessionLoader(configuration: .ephemeral)
        do throws(HTTPError) {
            return "response \(try await loader.load(HTTPRequest(url: server.url("/" + name))).status.rawValue)"
        } catch {
            return "error \(error.code)"
        }
    }
}
