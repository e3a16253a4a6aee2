import Foundation
import LoaderChain
import LoaderChainCurl
import LoaderChainTesting
import TestSizes
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

#if os(Linux)
    extension CurlConfiguration {
        /// The same, for a loader over libcurl.
        static var patient: CurlConfiguration {
            var configuration = CurlConfiguration()
            configuration.timeout = .seconds(3600)
            return configuration
        }
    }

    /// Makes a patient loader over libcurl.
    func patient(_ change: (inout CurlConfiguration) -> Void) -> CurlLoader {
        var configuration = CurlConfiguration.patient
        change(&configuration)
        return CurlLoader(configuration: configuration)
    }
#endif

/// A terminal that the tests of this target run with.
enum TestedTerminal: String, CaseIterable, Sendable {
    case urlSession = "URLSessionLoader"
    case curl = "CurlLoader"

    /// The one of the test that runs.
    @TaskLocal static var current = urlSession

    /// Those of this system.
    static var available: [TestedTerminal] {
        #if os(Linux)
            CurlLoader.isAvailable ? allCases : [.urlSession]
        #else
            [.urlSession]
        #endif
    }

    /// Makes a terminal for tests, which has the patience of a slow machine.
    static func makeLoader(
        requestsPerHost: Int = 64, responseSizeLimit: Int = 1 << 20, headers: HTTPHeaders = [:],
        timeout: Double = 3600, timers: any Timers = SystemTimers.shared
    ) -> HTTPLoader {
        #if os(Linux)
            if current == .curl {
                var configuration = CurlConfiguration()
                configuration.headers = headers
                configuration.timeout = .seconds(timeout)
                return CurlLoader(
                    configuration: configuration, requestsPerHost: requestsPerHost,
                    responseSizeLimit: responseSizeLimit, timers: timers)
            }
        #endif
        let configuration = URLSessionConfiguration.patient
        configuration.timeoutIntervalForRequest = timeout
        if !headers.isEmpty {
            configuration.httpAdditionalHeaders = Dictionary(headers.map { ($0.name, $0.value) }) { $1 }
        }
        return URLSessionLoader(
            configuration: configuration, requestsPerHost: requestsPerHost, responseSizeLimit: responseSizeLimit,
            timers: timers)
    }

    /// Makes a terminal as a program does that sets nothing.
    static func makeUsualLoader(timers: any Timers) -> HTTPLoader {
        #if os(Linux)
            if current == .curl { return CurlLoader(timers: timers) }
        #endif
        return URLSessionLoader(timers: timers)
    }
}

/// Runs each test of a suite with every terminal of the system, or a test with some of them.
struct Terminals: SuiteTrait, TestTrait, TestScoping {
    let terminals: [TestedTerminal]
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for terminal in terminals {
            try await TestedTerminal.$current.withValue(terminal) { try await function() }
        }
    }
}

extension Trait where Self == Terminals {
    /// With every terminal of the system.
    static var everyTerminal: Terminals { Terminals(terminals: TestedTerminal.available) }
}

/// Runs a test of such a suite only when it is the turn of some terminals.
struct OnlyFor: TestTrait, TestScoping {
    let terminals: [TestedTerminal]

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if terminals.contains(TestedTerminal.current) { try await function() }
    }
}

extension Trait where Self == OnlyFor {
    /// Only with some of the suite's terminals.
    static func only(_ terminals: TestedTerminal...) -> OnlyFor { OnlyFor(terminals: terminals) }
}

/// A server and a terminal for it.
struct Site: Sendable {
    let server: LoopbackServer
    let loader: HTTPLoader

    init(responseSizeLimit: Int = 1 << 20, timers: any Timers = SystemTimers.shared) throws {
        server = try LoopbackServer()
        loader = TestedTerminal.makeLoader(responseSizeLimit: responseSizeLimit, timers: timers)
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

    /// Waits until nothing is in flight, without cancelling anything.
    func waitUntilIdle() async throws {
        try await eventually("nothing is in flight") { details == "in flight 0" }
    }
}

extension LoopbackReply {
    /// The reply with a type that no session guesses: of others, a session of an Apple system keeps back the head and 512 bytes.
    var ofPlainType: Self { header("Content-Type", "application/json") }
}
