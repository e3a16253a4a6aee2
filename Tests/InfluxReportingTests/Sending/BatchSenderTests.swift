import Foundation
import LoaderChain
import LoaderChainTesting
import TestGunzip
import Testing

@testable import InfluxReporting

/// The sender, with failures of the chain and with compression.
@Suite(.timeLimit(.minutes(10))) struct BatchSenderTests {
    private let destination: InfluxDestination

    init() throws {
        let url = try #require(URL(string: "https://influx.example.com"))
        destination = try .influxDB1(url, database: "d", authorization: .token("hunter2"))
    }

    private func sender(_ chain: HTTPLoader, _ compression: LineCompression = .off) -> BatchSender {
        BatchSender(to: destination, through: chain, compression: compression)
    }

    private func lines(_ request: HTTPRequest) throws -> [String] {
        let body = try request.body.encode().data(upTo: .max)
        return String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func emptyBatchIsNotSent() async {
        let terminal = ScriptedTerminal { _ in .success(.noContent) }
        #expect(await sender(terminal).send(batch([])) == BatchOutcome())
        #expect(terminal.requests.isEmpty)
    }

    @Test(arguments: [
        HTTPError.Code.cannotConnect, .connectionLost, .timedOut, .insecureConnection, .unknown, .abandoned,
    ])
    func transportFailureKeepsLines(_ code: HTTPError.Code) async {
        let outcome = await sender(ScriptedTerminal { _ in .failure(code) }).send(batch(goodLines(10)))
        #expect(outcome.undelivered == LineSet(0..<10) && outcome.requests == 1)
        guard case .offline(let reason)? = outcome.failure else {
            Issue.record("\(String(describing: outcome.failure))")
            return
        }
        #expect(!reason.contains("hunter2"))
    }

    @Test func chainWithoutTerminalIsOffline() async {
        let outcome = await sender(Autocancel()).send(batch(goodLines(2)))
        guard case .offline? = outcome.failure else { return void(Issue.record("\(outcome)")) }
    }

    // MARK: Cancellation

    @Test func cancellationKeepsDeliveredCount() async {
        let terminal = ScriptedTerminal()
        let sender = sender(terminal)
        let sending = Task { await sender.send(batch(goodLines(8))) }
        terminal.answer(await terminal.next(), .badRequest)
        let largest = await terminal.next()
        terminal.answer(largest, .noContent)
        _ = await terminal.next()
        sending.cancel()
        let outcome = await sending.value
        #expect(outcome.failure == .interrupted)
        #expect(outcome.deliveredCount == 4 && outcome.undelivered == LineSet(0..<4))
        #expect(terminal.held.isEmpty)
    }

    @Test func cancelledTaskSendsNothing() async {
        let terminal = ScriptedTerminal { _ in .success(.noContent) }
        let sender = sender(terminal)
        let gate = Gate()
        let sending = Task {
            await gate.wait()
            return await sender.send(batch(goodLines(3)))
        }
        sending.cancel()
        gate.open()
        #expect(await sending.value.failure == .interrupted)
        #expect(terminal.requests.isEmpty)
    }

    @Test func chainResetInterruptsSending() async {
        let terminal = ScriptedTerminal()
        let chain = ResetGuard() --> Autocancel() --> terminal
        let sender = sender(chain)
        async let sent = sender.send(batch(goodLines(8)))
        terminal.answer(await terminal.next(), .contentTooLarge)
        terminal.answer(await terminal.next(), .noContent)
        _ = await terminal.next()
        await chain.reset()
        let outcome = await sent
        #expect(outcome.failure == .interrupted)
        #expect(outcome.deliveredCount == 4 && outcome.undelivered == LineSet(4..<8))
    }

    // MARK: Loaders of the chain

    @Test func chainRetriesCountAsOneRequest() async {
        let answers = Locked([HTTPStatus.serviceUnavailable, .badGateway, .noContent])
        let terminal = ScriptedTerminal { _ in .success(answers.withLock { $0.removeFirst() }) }
        let chain =
            Throttle(maximumNumberOfRequests: 1)
            --> Retry(.immediately(maximumNumberOfAttempts: 5)) --> Validate() --> terminal
        let outcome = await sender(chain).send(batch(goodLines(5)))
        #expect(outcome.deliveredCount == 5)
        #expect(outcome.requests == 1 && terminal.requests.count == 3)
        // Each attempt sends the same lines.
        #expect(Set(terminal.requests.compactMap { try? lines($0) }).count == 1)
    }

    @Test func chainValidationDoesNotApplyToWrites() async {
        let chain =
            Validate(.contentTypes("application/json")) --> ScriptedTerminal { _ in .success(.ok, body: "fine") }
        #expect(await sender(chain).send(batch(goodLines(2))).deliveredCount == 2)
    }

    @Test func tapDoesNotMeasureWrites() async {
        let seen = Locked(0)
        let tap = MetricsTap(ClosureSink(isImmediate: true) { _ in seen.withLock { $0 += 1 } })
        let chain = tap --> ScriptedTerminal { _ in .success(.noContent) }
        #expect(await sender(chain).send(batch(goodLines(2))).deliveredCount == 2)
        #expect(seen.withLock { $0 } == 0)
        _ = try? await chain.load(HTTPRequest(host: "example.com"))
        #expect(seen.withLock { $0 } == 1)
    }

    @Test func openCircuitIsReportedAsBusy() async {
        let chain = ClosureLoader { request, _ in
            throw HTTPError(.circuitOpen, request: request, reason: "open")
        }
        guard case .busy(nil, _)? = await sender(chain).send(batch(goodLines(2))).failure else {
            return void(Issue.record("not busy"))
        }
    }

    // MARK: Compression

    @Test func onlyLongBodiesAreCompressed() async throws {
        let terminal = ScriptedTerminal { _ in .success(.noContent) }
        let sender = sender(terminal, .gzip(from: 1_000))
        let long = batch(goodLines(500))
        _ = await sender.send(batch(goodLines(5)))
        let outcome = await sender.send(long)
        #expect(try terminal.requests[0].encoded().headers["Content-Encoding"] == nil)
        let sent = try terminal.requests[1].encoded()
        #expect(sent.headers["Content-Encoding"] == "gzip")
        let body = try sent.content.data(upTo: .max)
        #expect(gunzipped(body) == long.bytes)
        #expect(outcome.bytesSent == body.count && body.count < long.bytes.count / 3)
    }

    @Test(arguments: [
        (HTTPStatus.unsupportedMediaType, ""), (.badRequest, #"{"error":"gzip: invalid header"}"#),
        (.badRequest, #"{"error":"unexpected EOF"}"#), (.badRequest, "no"), (.unprocessableContent, ""),
        (.badRequest, "{\"error\":\"unable to parse '\\u001f\\ufffd\\b': missing fields\"}"),
    ])
    func compressionIsTurnedOffAfterRefusal(_ status: HTTPStatus, _ body: String) async throws {
        let terminal = ScriptedTerminal { request in
            let isCompressed = (try? request.encoded().headers.contains("Content-Encoding")) == true
            return isCompressed ? .success(status, body: body) : .success(.noContent)
        }
        let sender = sender(terminal, .gzip(from: 1))
        let first = await sender.send(batch(goodLines(100)))
        #expect(first.deliveredCount == 100 && first.requests == 2 && first.compressionWasRefused)
        let second = await sender.send(batch(goodLines(100)))
        #expect(second.deliveredCount == 100 && second.requests == 1 && !second.compressionWasRefused)
    }

    @Test func badLineInCompressedBodyKeepsCompression() async throws {
        let terminal = ScriptedTerminal { request in
            guard let sent = try? request.encoded(), let body = try? sent.content.data(upTo: .max) else {
                return .failure(.unknown)
            }
            let lines = sent.headers.contains("Content-Encoding") ? gunzipped(body) ?? Data() : body
            let isBad = String(decoding: lines, as: UTF8.self).contains("bad")
            return isBad ? .success(.badRequest, body: #"{"error":"no"}"#) : .success(.noContent)
        }
        let sender = sender(terminal, .gzip(from: 200))
        var all = goodLines(1_024)
        all[1_000] = "bad"
        let outcome = await sender.send(batch(all))
        #expect(outcome.rejected.map(\.line) == ["bad"] && outcome.deliveredCount == 1_023)
        // One request more than without compression, because the server has never accepted a compressed request.
        #expect(outcome.requests <= 22 && !outcome.compressionWasRefused)
        _ = await sender.send(batch(goodLines(100)))
        #expect(try terminal.requests.last?.encoded().headers["Content-Encoding"] == "gzip")
    }

    @Test func refusalOfCompressedAndPlainBodyIsReported() async {
        let terminal = ScriptedTerminal { _ in .success(.unsupportedMediaType) }
        let outcome = await sender(terminal, .gzip(from: 1)).send(batch(goodLines(50)))
        #expect(outcome.requests == 2 && !outcome.compressionWasRefused)
        #expect(outcome.failure == .refused(.unsupportedMediaType, reason: "no reason given"))
    }

    private func void(_ value: some Any) {}
}

/// Holds all requests until it is opened.
private final class Gate: Sendable {
    private let state = Locked((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return replace(&state.waiting, with: [])
        }
        for each in waiting { each.resume() }
    }
}
