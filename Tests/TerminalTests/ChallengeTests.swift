import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import TestServers
import Testing

/// The session never answers a challenge for a password; the 401 is the response.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct ChallengeTests {
    private static let challenges =
        [
            "Basic realm=\"cellar\"", "basic realm=cellar", "Digest realm=\"cellar\", nonce=\"1\"", "Bearer",
            "Bearer realm=\"cellar\"", "NTLM", "Negotiate",
        ] + uselessChallenges
    #if os(Linux)
        private static let uselessChallenges = ["Basic", "Basic realm=\"", "=,,\"", "Unheard of"]
    #else
        // Whether the sessions of Apple systems fail instead is not known.
        private static let uselessChallenges: [String] = []
    #endif

    @Test(arguments: challenges)
    func challengeIsDeliveredAsResponse(_ challenge: String) async throws {
        let site = try Site()
        site.server.route("/") { _ in
            var reply = LoopbackReply.text("who are you", status: .unauthorized).header("WWW-Authenticate", challenge)
            reply.headers["X-Other"] = "1"
            return reply
        }
        let response = try await site.load("/")
        #expect(response.status == .unauthorized)
        #expect(response.headers["WWW-Authenticate"] == challenge)
        #expect(response.headers["X-Other"] == "1")
        #expect(response.body == "who are you".data(using: .utf8))
        #expect(site.server.requests.count == 1)
    }

    @Test func challengeToUploadIsDeliveredAsResponse() async throws {
        let site = try Site()
        site.server.route("/") { _ in .unauthorized(challenge: #"Basic realm="cellar""#) }
        let response = try await site.load("/") {
            $0.method = .put
            $0.body = DataBody(pattern(100_000))
        }
        #expect(response.status == .unauthorized)
    }

    @Test func challengeIsDeliveredAsResponseInChunks() async throws {
        let site = try Site()
        site.server.route("/") { _ in
            .text("who are you", status: .unauthorized).header("WWW-Authenticate", "Basic realm=\"a\"")
        }
        let response = try await site.load("/") { $0.delivery = .chunks }
        #expect(response.status == .unauthorized)
        #expect(try await response.chunks?.collect(upTo: 100) == "who are you".data(using: .utf8))
    }
}
