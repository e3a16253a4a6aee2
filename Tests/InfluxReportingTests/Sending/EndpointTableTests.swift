import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import InfluxReporting

/// Each row of the guide's table of responses, over a socket, with each API.
@Suite(.timeLimit(.minutes(10))) struct EndpointTableTests {
    private let influx: InfluxLoopback
    private let lines = ["m f=1 1", "bad", "m f=2 3", "m f=3 4"]

    init() throws { influx = try InfluxLoopback() }

    @Test(arguments: InfluxAPI.allCases) func successDeliversAllLines(_ api: InfluxAPI) async throws {
        influx.answer(.status(.noContent))
        let outcome = try await influx.sender(api).send(batch(lines))
        #expect(outcome.deliveredCount == 4 && outcome.requests == 1)
        #expect(outcome.undelivered.isEmpty && outcome.failure == nil)
        let request = try #require(influx.server.requests.first)
        #expect(request.method == .post)
        #expect(request.text == "m f=1 1\nbad\nm f=2 3\nm f=3 4\n")
        #expect(request.headers["Content-Type"] == "text/plain; charset=utf-8")
        switch api {
        case .v1:
            #expect(request.target == "/write?db=d&precision=ms")
            #expect(request.headers["Authorization"] == "Basic dTpw")
        case .v2:
            #expect(request.target == "/api/v2/write?org=o&bucket=b&precision=ms")
            #expect(request.headers["Authorization"] == "Token t")
        case .v3:
            #expect(request.target == "/api/v3/write_lp?db=d&precision=millisecond")
            #expect(request.headers["Authorization"] == "Bearer t")
        }
    }

    // MARK: A bad line

    @Test func v1StoresGoodLinesAndQuotesBadLine() async throws {
        influx.answer(.influx1(.badRequest, "partial write: unable to parse 'bad': missing fields dropped=0"))
        let outcome = try await influx.sender(.v1).send(batch(lines))
        #expect(outcome.deliveredCount == 3 && outcome.requests == 1)
        #expect(outcome.rejected == [RejectedLine(line: "bad", reason: "missing fields")])
    }

    @Test func v1IsRetriedWhenConflictHidesBadLine() async throws {
        let conflict =
            #"partial write: field type conflict: input field "f" on measurement "m" is type float, already exists as type integer dropped=1"#
        influx.answer(
            .influx1(.badRequest, conflict),
            .influx1(.badRequest, "partial write: unable to parse 'bad': missing fields dropped=0"))
        let outcome = try await influx.sender(.v1).send(batch(["m f=1i 1", "bad", "m f=2 2", "m f=3i 3"]))
        #expect(influx.received == [["m f=1i 1", "bad", "m f=2 2", "m f=3i 3"], ["m f=1i 1", "bad", "m f=3i 3"]])
        #expect(outcome.deliveredCount == 2)
        #expect(outcome.rejected.map(\.line) == ["bad", "m f=2 2"])
    }

    @Test func v2QuotesBadLineAndOthersAreSentAgain() async throws {
        influx.answer(
            .influx2(.badRequest, "invalid", "unable to parse 'bad': missing fields"), .status(.noContent))
        let outcome = try await influx.sender(.v2).send(batch(lines))
        #expect(influx.received == [lines, ["m f=1 1", "m f=2 3", "m f=3 4"]])
        #expect(outcome.deliveredCount == 3)
        #expect(outcome.rejected == [RejectedLine(line: "bad", reason: "missing fields")])
    }

    @Test func v2TypeConflictRejectsOnlyItsLine() async throws {
        let conflict =
            #"failure writing points to database: partial write: field type conflict: input field "f" on measurement "m" is type float, already exists as type integer dropped=1"#
        influx.answer(.influx2(.unprocessableContent, "unprocessable entity", conflict), .status(.noContent))
        let outcome = try await influx.sender(.v2).send(batch(["m f=1i 1", "m f=2 2", "m f=3i 3"]))
        #expect(outcome.deliveredCount == 2)
        #expect(outcome.rejected.map(\.line) == ["m f=2 2"])
    }

    @Test func v2NumberedLineIsTriedAlone() async throws {
        let reply = LoopbackReply.json(#"{"code":"invalid","line":2,"message":"poorly formed"}"#)
        influx.server.fallback { request in
            guard request.text.contains("bad") else { return .status(.noContent) }
            var refusal = reply
            refusal.status = .badRequest
            return refusal
        }
        let outcome = try await influx.sender(.v2).send(batch(lines))
        #expect(influx.received == [lines, ["bad"], ["m f=1 1", "m f=2 3", "m f=3 4"]])
        #expect(outcome.rejected.map(\.line) == ["bad"] && outcome.deliveredCount == 3)
    }

    @Test func v3StoresGoodLinesAndNumbersBadLine() async throws {
        influx.answer(.influx3("partial write of line protocol occurred", [(2, "bad", "no fields were provided")]))
        let outcome = try await influx.sender(.v3).send(batch(lines))
        #expect(outcome.deliveredCount == 3 && outcome.requests == 1)
        #expect(outcome.rejected == [RejectedLine(line: "bad", reason: "no fields were provided")])
    }

    @Test func v3ParsingFailureSendsGoodLinesAgain() async throws {
        influx.answer(
            .json(
                #"{"error":"parsing failed for write_lp endpoint","data":{"original_line":"bad","line_number":2,"error_message":"no"}}"#
            )
            .with(.badRequest), .status(.noContent))
        let outcome = try await influx.sender(.v3).send(batch(lines))
        #expect(influx.received.last == ["m f=1 1", "m f=2 3", "m f=3 4"])
        #expect(outcome.rejected == [RejectedLine(line: "bad", reason: "no")] && outcome.deliveredCount == 3)
    }

    @Test func v3TableLimitRejectsOnlyNewTable() async throws {
        // The limit of tables is reached: only lines for the new table are rejected.
        influx.server.fallback { request in
            request.text.contains("new_table")
                ? .influx3("Update to schema would exceed number of tables", [], status: .unprocessableContent)
                : .status(.noContent)
        }
        let outcome = try await influx.sender(.v3).send(batch(goodLines(63) + ["new_table f=1 1"]))
        #expect(outcome.rejected.map(\.line) == ["new_table f=1 1"])
        #expect(outcome.deliveredCount == 63)
        #expect(outcome.requests <= 13)
    }

    @Test(arguments: InfluxAPI.allCases) func unnamedBadLineIsFoundBySearch(_ api: InfluxAPI) async throws {
        influx.server.fallback { $0.text.contains("bad") ? .text("no", status: .badRequest) : .status(.noContent) }
        var all = goodLines(1_000)
        all[617] = "bad"
        let outcome = try await influx.sender(api).send(batch(all))
        #expect(outcome.rejected == [RejectedLine(line: "bad", reason: "no")])
        #expect(outcome.deliveredCount == 999)
        #expect(outcome.requests <= 21)
    }

    // MARK: Other responses

    private func refusal(_ api: InfluxAPI, _ status: HTTPStatus, _ text: String) -> LoopbackReply {
        switch api {
        case .v1: .influx1(status, text)
        case .v2: .influx2(status, "code", text)
        case .v3: .influx3(text, [], status: status)
        }
    }

    @Test(arguments: InfluxAPI.allCases, [401, 403, 404]) func refusedWriteKeepsLines(
        _ api: InfluxAPI, _ status: Int
    ) async throws {
        let status = HTTPStatus(rawValue: status)
        influx.answer(refusal(api, status, "not for you"))
        let outcome = try await influx.sender(api).send(batch(lines))
        #expect(outcome.failure == .refused(status, reason: "not for you"))
        #expect(outcome.undelivered.count == 4 && outcome.requests == 1 && outcome.rejected.isEmpty)
    }

    @Test(arguments: InfluxAPI.allCases) func tooLargeBodyIsSplit(_ api: InfluxAPI) async throws {
        let tooLarge = refusal(api, .contentTooLarge, "too large")
        influx.server.fallback { $0.body.count > 2_000 ? tooLarge : .status(.noContent) }
        let sender = try influx.sender(api)
        let all = goodLines(500)
        let outcome = await sender.send(batch(all))
        #expect(outcome.deliveredCount == 500 && outcome.failure == nil)
        let stored = influx.received.filter { $0.joined(separator: "\n").utf8.count < 2_000 }.flatMap(\.self)
        #expect(stored == all)
        // The next batch is split from the beginning.
        let before = influx.server.requests.count
        _ = await sender.send(batch(all))
        #expect(influx.server.requests.dropFirst(before).allSatisfy { $0.body.count <= 2_000 })
    }

    @Test(arguments: InfluxAPI.allCases, [429, 503]) func busyServerKeepsLinesAndRequestedDelay(
        _ api: InfluxAPI, _ status: Int
    ) async throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let reply = refusal(api, HTTPStatus(rawValue: status), "busy")
        influx.answer(
            reply.header("Retry-After", "30"), reply.header("Retry-After", HTTPDate.text(date + 45)), reply)
        let sender = try influx.sender(api, date: date)
        for expected in [Duration.seconds(30), .seconds(45), nil] {
            let outcome = await sender.send(batch(lines))
            guard case .busy(expected, let reason)? = outcome.failure else {
                Issue.record("\(String(describing: outcome.failure))")
                return
            }
            #expect(reason.contains("busy"))
            #expect(outcome.undelivered.count == 4)
        }
    }

    @Test(arguments: InfluxAPI.allCases) func internalServerErrorKeepsLines(_ api: InfluxAPI) async throws {
        influx.answer(refusal(api, .internalServerError, "engine is closed"))
        let outcome = try await influx.sender(api).send(batch(lines))
        guard case .busy(nil, _)? = outcome.failure else {
            Issue.record("\(String(describing: outcome.failure))")
            return
        }
        #expect(outcome.undelivered.count == 4)
    }
}

extension LoopbackReply {
    /// The reply with another status.
    func with(_ status: HTTPStatus) -> Self {
        var copy = self
        copy.status = status
        copy.reason = status.reasonPhrase
        return copy
    }
}
