import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
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

/// A port of 127.0.0.1 that refuses connections.
///
/// It is bound, so that no other test's server can be given it, and nothing listens at it.
final class ClosedPort: Sendable {
    let number: Int
    private let descriptor: Int32

    init() throws {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        number = Int(UInt16(bigEndian: address.sin_port))
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
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
