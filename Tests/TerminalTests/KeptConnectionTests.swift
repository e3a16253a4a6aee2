import Foundation
import LoaderChain
import LoaderChainTesting
import TestServers
import Testing

@testable import LoaderChainURLSession

/// A request on a reused connection that the server closes when the request arrives.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct KeptConnectionTests {
    #if os(Linux)
        private static let methods = ["POST", "PATCH", "PURGE"]
    #else
        // Which other methods the sessions of Apple systems never repeat is not known.
        private static let methods = ["POST"]
    #endif

    @Test(arguments: methods, [0, 3])
    func nonIdempotentRequestIsSentOnce(_ method: String, _ bodySize: Int) async throws {
        let site = try Site()
        site.server.route("/warm") { _ in .ok() }
        site.server.route("/act", replies: .hangUp(), .ok())
        _ = try await site.load("/warm")
        let error = await site.failure("/act") {
            $0.method = HTTPMethod(method)
            $0.body = DataBody(pattern(bodySize))
        }
        #expect(error?.code == .connectionLost)
        #expect(site.server.requests.filter { $0.path == "/act" }.count == 1)
    }

    /// Whichever of them the request takes, and whichever would be next, the server hangs up on it.
    @Test(arguments: [0, 3, 300_000])
    func nonIdempotentRequestIsSentOnceDespiteManyConnections(_ bodySize: Int) async throws {
        let site = try Site()
        site.server.route("/warm") { _ in .ok().held() }
        site.server.route("/act") { _ in .hangUp() }
        async let warm: Void = withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { _ = try await site.load("/warm") } }
            try await group.waitForAll()
        }
        try await site.server.waitForHeld(count: 8)
        site.server.release()
        try await warm
        let error = await site.failure("/act") {
            $0.method = .post
            $0.body = DataBody(pattern(bodySize))
        }
        #expect(error?.code == .connectionLost)
        #expect(site.server.requests.filter { $0.path == "/act" }.count == 1)
    }

    #if os(Linux)
        @Test(.only(.urlSession), .enabled(if: !SystemCurl.isAtLeast8_12))
        func sessionForSingleRequestEndsWithItsRequest() async throws {
            let site = try Site()
            site.server.route("/act") { _ in .ok("done") }
            for _ in 0..<3 { #expect(try await site.load("/act") { $0.method = .post }.body == Data("done".utf8)) }
            try await site.server.waitForOpenConnections(atMost: 0)
        }
    #endif
}
