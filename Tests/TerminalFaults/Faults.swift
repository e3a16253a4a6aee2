import Foundation
import LoaderChain
import LoaderChainTesting

/// The bytes of the body from an offset up to the end of a block.
enum Faults {
    static func answer(to name: String) async throws -> String {
        let server = try LoopbackServer()
        server.route("/mid-head") { _ in .ok("hello").hangingUp(at: .head(20)) }
        server.route("/trailers") { _ in .chunks(["hello"], trailers: ["X-Sum": "1"]) }
        server.route("/endless") { _ in
            .verbatim("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello")
        }
        server.route("/fine") { _ in .ok("hello") }
        let loader = makeTerminal()
        do throws(HTTPError) {
            return "response \(try await loader.load(HTTPRequest(url: server.url("/" + name))).status.rawValue)"
        } catch {
            return "error \(error.code)"
        }
    }

    /// The outcome of a request: a status with its body or the lengths of its chunks, or the code, the status and the reason of
    /// an error.
    static func load(_ url: String, _ delivery: String, isExhausted: Bool = false) async -> String {
        guard let url = URL(string: url) else { return "no URL" }
        let loader = makeTerminal()
        var request = HTTPRequest(url: url)
        if delivery == "chunks" { request.delivery = .chunks }
        if isExhausted {
            // The session then has every descriptor that it needs.
            _ = try? await loader.load(request)
            forbidDescriptors()
        }
        do throws(HTTPError) {
            let response = try await loader.load(request)
            guard let chunks = response.chunks else {
                return "\(response.status.rawValue) \(String(decoding: response.body, as: UTF8.self))"
            }
            do {
                return "\(response.status.rawValue) \(try await chunks.collect(upTo: 1 << 20).count)"
            } catch {
                return "\(response.status.rawValue), then \(error)"
            }
        } catch {
            let status = error.response.map { "\($0.status.rawValue)" } ?? "nil"
            return "\(error.code) \(status) \(error.reason ?? "")"
        }
    }

    /// Prevents the process from opening further files.
    private static func forbidDescriptors() {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = 0
        setrlimit(resource, &limit)
    }
}
