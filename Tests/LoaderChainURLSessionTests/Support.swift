import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// A configuration for tests that hold a response: on a slow machine the session's own minute must not end it.
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

/// A temporary directory, removed when it is released.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "LoaderChainTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }

    func file(_ name: String, _ data: Data? = nil) throws -> URL {
        let file = url.appending(path: name)
        try data?.write(to: file)
        return file
    }
}

/// Bytes without a period, so that misplaced blocks are found.
func pattern(_ count: Int) -> Data {
    var generator = SeededGenerator(seed: UInt64(count))
    var data = Data(capacity: count + 8)
    while data.count < count { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
    return data.prefix(count)
}

extension URLSessionLoader {
    /// Waits until nothing is in flight, without cancelling anything.
    func waitUntilIdle() async throws {
        try await eventually("nothing is in flight") { details == "in flight 0" }
    }
}
