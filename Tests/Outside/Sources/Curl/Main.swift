import Foundation
import LoaderChain
import LoaderChainTesting

#if os(Linux)
    import LoaderChainCurl
#endif

/// A program whose terminal is the one over libcurl; it says what came of its requests.
///
/// Its argument is the path of a Unix socket to which its request goes, or `lookups` for requests to hosts whose names take long to look up.
@main
enum Curl {
    static func main() async throws {
        #if os(Linux)
            let server = try LoopbackServer()
            server.fallback { _ in .ok("hello") }
            let chain = CurlLoader()
            let argument = CommandLine.arguments.dropFirst().first
            if argument == "lookups" { return try await lookUp(server, chain) }
            do throws(HTTPError) {
                var request = HTTPRequest(url: server.url("/"))
                request.unixSocket = argument
                let response = try await chain.load(request)
                print(String(decoding: response.body, as: UTF8.self))
            } catch {
                print("\(error.code): \(error.reason ?? "no reason")")
            }
        #else
            print("hello")
        #endif
    }

    #if os(Linux)
        /// Neither other requests nor a cancel wait for the address of a host.
        private static func lookUp(_ server: LoopbackServer, _ chain: HTTPLoader) async throws {
            let ends = EventLog()
            func begin(_ name: String) -> HTTPTask {
                chain.load(request: HTTPRequest(scheme: "http", host: "\(name).slow.invalid")) { result in
                    ends.note("\(name) \(result.error?.code.rawValue ?? "response")")
                }
            }
            let (_, left) = (begin("waited-for"), begin("left"))
            call("wait_for_slow_lookups")
            let other = HTTPRequest(scheme: "http", host: "other.quick.invalid", port: server.port)
            ends.note("other \(try await chain.load(other).status)")
            left.cancel()
            await ends.waitForEvents(2)
            call("end_slow_lookups")
            await ends.waitForEvents(3)
            print(ends.events.joined(separator: ", "))
        }

        /// Calls a function of the library that takes the place of the system's.
        private static func call(_ name: String) {
            guard let function = dlsym(nil, name) else { fatalError("there is no function \(name)") }
            unsafeBitCast(function, to: (@convention(c) () -> Void).self)()
        }
    #endif
}
