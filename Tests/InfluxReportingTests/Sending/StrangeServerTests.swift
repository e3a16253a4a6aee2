import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import Testing

@testable import InfluxReporting

/// Unusual servers, over a socket: none of them causes the loss of a line.
@Suite(.timeLimit(.minutes(10))) struct StrangeServerTests {
    private let influx: InfluxLoopback
    private let lines = batch(["m f=1 1", "bad", "m f=2 2"])

    init() throws { influx = try InfluxLoopback() }

    @Test func loginPageDeliversNothing() async throws {
        influx.server.route("/login") { _ in
            LoopbackReply.ok("<html>Sign in</html>").header("Content-Type", "text/html")
        }
        influx.server.route("/write") { _ in .redirect(to: "/login") }
        let outcome = try await influx.sender(.v1).send(lines)
        guard case .unexpectedAnswer(.ok, _)? = outcome.failure else { return fail(outcome) }
        #expect(outcome.undelivered.count == 3 && outcome.deliveredCount == 0)
    }

    @Test func redirectThatDropsBodyFails() async throws {
        influx.server.route("/elsewhere") { _ in .status(.noContent) }
        influx.server.route("/write") { _ in .redirect(to: "/elsewhere", status: .seeOther) }
        let outcome = try await influx.sender(.v1).send(lines)
        guard case .unexpectedAnswer(.noContent, _)? = outcome.failure else { return fail(outcome) }
        #expect(influx.server.requests.last?.body.isEmpty == true)
    }

    @Test func redirectThatKeepsBodyIsFollowed() async throws {
        influx.server.route("/new") { _ in .status(.noContent) }
        influx.server.route("/write") { _ in .redirect(to: "/new", status: .permanentRedirect) }
        let outcome = try await influx.sender(.v1).send(lines)
        #expect(outcome.deliveredCount == 3)
        #expect(influx.server.requests.last?.body == lines.bytes)
    }

    @Test func redirectLoopKeepsLines() async throws {
        influx.server.fallback { _ in .redirect(to: "/write?db=d&precision=ms", status: .temporaryRedirect) }
        let outcome = try await influx.sender(.v1).send(lines)
        guard case .unexpectedAnswer? = outcome.failure else { return fail(outcome) }
        #expect(outcome.undelivered.count == 3)
    }

    @Test func truncatedAnswerKeepsLines() async throws {
        influx.answer(
            LoopbackReply.influx1(.badRequest, "partial write: unable to parse 'bad': missing fields dropped=0")
                .hangingUp(at: .body(40)))
        let outcome = try await influx.sender(.v1).send(lines)
        #expect(outcome.failure != nil)
        #expect(outcome.undelivered.count == 3 && outcome.rejected.isEmpty)
    }

    @Test func incompleteJSONIsReadAsText() async throws {
        influx.answer(
            .text(#"{"error":"unable to parse 'bad': missing fields"#, status: .badRequest), .status(.noContent))
        let outcome = try await influx.sender(.v1).send(lines)
        #expect(outcome.rejected.map(\.line) == ["bad"] && outcome.deliveredCount == 2)
    }

    @Test func hugeComplaintIsReadInPart() async throws {
        let huge = String(repeating: "x", count: 6 << 20)
        influx.answer(.text(huge, status: .unauthorized))
        let outcome = try await influx.sender(.v1).send(lines)
        guard case .refused(.unauthorized, let reason)? = outcome.failure else { return fail(outcome) }
        #expect(reason.count <= 1_001)
    }

    /// The complaint is not read, so the bad line is found by sending fewer lines at a time.
    @Test func complaintBeyondSizeLimitRejectsOnlyItsLine() async throws {
        influx.server.fallback { request in
            guard String(decoding: request.body, as: UTF8.self).contains("bad") else { return .status(.noContent) }
            return .text(String(repeating: "x", count: 100_000), status: .badRequest)
        }
        let chain = URLSessionLoader(configuration: .patient, responseSizeLimit: 1_000)
        let outcome = await BatchSender(to: try influx.destination(.v1), through: chain).send(lines)
        #expect(outcome.rejected == [RejectedLine(line: "bad", reason: "no reason given")])
        #expect(outcome.deliveredCount == 2 && outcome.undelivered.isEmpty && outcome.failure == nil)
    }

    @Test func compressedComplaintIsRead() async throws {
        influx.answer(
            LoopbackReply.influx2(.badRequest, "invalid", "unable to parse 'bad': missing fields").gzipped(),
            .status(.noContent))
        let outcome = try await influx.sender(.v2).send(lines)
        #expect(outcome.rejected.map(\.line) == ["bad"] && outcome.deliveredCount == 2)
    }

    @Test func hangUpIsReportedAsOffline() async throws {
        influx.answer(.hangUp())
        let outcome = try await influx.sender(.v1).send(lines)
        guard case .offline? = outcome.failure else { return fail(outcome) }
    }

    @Test func stoppedServerIsReportedAsOffline() async throws {
        let sender = try influx.sender(.v1)
        influx.server.stop()
        guard case .offline? = await sender.send(lines).failure else { return fail("not offline") }
    }

    /// Random responses: every line has one outcome, and the number of requests is bounded.
    @Test(arguments: 0..<4 as Range<UInt64>) func randomAnswersLoseNothing(_ seed: UInt64) async throws {
        let generator = Locked(SeededGenerator(seed: seed))
        let statuses = [200, 204, 204, 204, 301, 400, 400, 400, 401, 404, 413, 413, 415, 422, 429, 500, 503]
        let bodies = [
            "", "{", "<html>", "{}", #"{"error":"partial write: unable to parse 'bad': missing fields dropped=0"}"#,
            #"{"error":"unable to parse 'bad': missing fields"}"#, #"{"code":"invalid","line":3,"message":"x"}"#,
            #"{"error":"partial write of line protocol occurred","data":[{"original_line":"bad","line_number":2}]}"#,
            #"{"error":"gzip: invalid header"}"#, #"{"error":"partial write: dropped=3"}"#,
        ]
        let terminal = ScriptedTerminal { _ in
            generator.withLock { generator in
                .success(
                    HTTPStatus(rawValue: statuses.randomElement(using: &generator) ?? 204),
                    body: bodies.randomElement(using: &generator) ?? "")
            }
        }
        let all = batch((0..<64).map { $0 == 1 ? "bad" : "m f=\($0)i \($0)" })
        let sender = BatchSender(to: try influx.destination(.v2), through: terminal, compression: .gzip(from: 100))
        for _ in 0..<150 {
            let outcome = await sender.send(all)
            #expect(outcome.deliveredCount + outcome.rejectedCount + outcome.undelivered.count == 64, "\(outcome)")
            #expect((outcome.failure == nil) == outcome.undelivered.isEmpty)
            #expect(outcome.requests <= 600)
        }
    }

    private func fail(_ found: some Any, _ location: SourceLocation = #_sourceLocation) {
        Issue.record("\(found)", sourceLocation: location)
    }
}
