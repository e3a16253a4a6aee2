import Foundation
import LoaderChain
import LoaderChainTesting

#if os(Linux)
    import LoaderChainCurl
#endif

/// A program whose terminal is the one over libcurl; it says what came of a request.
@main
enum Curl {
    static func main() async throws {
        #if os(Linux)
            let server = try LoopbackServer()
            server.fallback { _ in .ok("hello") }
            let chain = CurlLoader()
            do throws(HTTPError) {
                let response = try await chain.load(HTTPRequest(url: server.url("/")))
                print(String(decoding: response.body, as: UTF8.self))
            } catch {
                print("\(error.code): \(error.reason ?? "no reason")")
            }
        #else
            print("hello")
        #endif
    }
}
