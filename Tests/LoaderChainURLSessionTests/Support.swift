import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// A configuration for tests: on a slow machine, a minute without a byte must not end a request.
    static var patient: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3600
        return configuration
    }
}

/// A server and a terminal for it.
struct Site: Sendable {
    let server: LoopbackServer
    let loader: URLSessionLoader

    init(responseSizeLimit: Int = 1 << 20, timers: any Timers = SystemTimers.shared) throws {
        server = try LoopbackServer()
        loader = URLSessionLoader(configuration: .patient, responseSizeLimit: responseSizeLimit, timers: timers)
    }

    func request(_ path: String, _ change: (inout HTTPRequest) -> Void = { _ in }) -> HTTPRequest {
        var request = HTTPRequest(url: server.url(path))
        change(&request)
        return request
    }

    func load(_ path: String, _ change: (inout HTTPRequest) -> Void = { _ in }) async throws(HTTPError) -> HTTPResponse
    {
        try await loader.load(request(path, change))
    }

    /// The error of a request that should fail.
    func failure(_ path: String, _ change: (inout HTTPRequest) -> Void = { _ in }) async -> HTTPError? {
        await loader.failure(request(path, change))
    }
}

extension HTTPLoader {
    func failure(_ request: HTTPRequest) async -> HTTPError? {
        do throws(HTTPError) {
            _ = try await load(request)
            return nil
        } catch {
            return error
        }
    }
}

extension URLSessionLoader {
    /// Waits until nothing is in flight, without cancelling anything.
    func waitUntilIdle() async throws {
        try await eventually("nothing is in flight") { details == "in flight 0" }
    }
}
