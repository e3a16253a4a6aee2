import Dispatch
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10))) struct SubmittingTests {
    private struct Signed: HTTPBody {
        let additionalHeaders: HTTPHeaders
        var isEmpty: Bool { false }
        func encode() -> HTTPBodyContent { .data(bytes(10)) }
    }

    /// A body's own headers are stored with the report.
    @Test func headersOfBodyAreCheckedToo() throws {
        let test = try TestOutbox()
        for (name, value, code) in [("X-Api-Key", "s", OutboxError.Code.secret), ("X-Kind", "a\nb", .request)] {
            var request = upload
            request.body = Signed(additionalHeaders: HTTPHeaders([HTTPHeaders.Field(name, value)]))
            let error = #expect(throws: OutboxError.self) { try test.outbox.submit(request) }
            #expect(error?.code == code)
        }
        #expect(test.outbox.count == 0)
    }

    @Test func bytesFilesAndRequestsArriveAsTheyAre() throws {
        let directory = try TemporaryDirectory()
        let large = bytes(1_000_000)
        try large.write(to: directory.url.appending(path: "large"))
        let test = try TestOutbox()
        let first = try test.outbox.submit(bytes(5), request: upload)
        try test.outbox.submit(fileAt: directory.url.appending(path: "large"), identifier: "file", request: upload)
        try test.outbox.submit(
            HTTPRequest(method: .post, host: "example.com", body: JSONBody(["a": 1])), identifier: "json")
        try test.outbox.submit(Data(), identifier: "empty", request: upload)
        test.outbox.drain()
        // Two servers, between which the order is undefined.
        let contents = Dictionary(test.server.receipts.map { ($0.key, $0.bytes) }) { first, _ in first }
        #expect(contents == [first.rawValue: bytes(5), "file": large, "json": Data(#"{"a":1}"#.utf8), "empty": Data()])
        #expect(test.server.receipts.count == 4)
        let types = test.server.requests.filter { $0.host == "example.com" }.map { $0.headers["Content-Type"] }
        #expect(types.count == 1 && types[0]?.hasPrefix("application/json") == true)
        #expect(UUID(uuidString: first.rawValue) != nil)
    }

    /// The outbox has a copy of its own.
    @Test func submittedFileMayChangeOrDisappear() throws {
        let directory = try TemporaryDirectory()
        let test = try TestOutbox(sends: false)
        let names = ["changed", "removed"]
        for name in names {
            try directory.put(bytes(100_000), at: name)
            try test.outbox.submit(fileAt: directory.url.appending(path: name), identifier: name, request: upload)
        }
        try directory.put(bytes(5), at: "changed")
        try FileManager.default.removeItem(at: directory.url.appending(path: "removed"))
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.server.keys.sorted() == names)
        #expect(test.server.receipts.allSatisfy { $0.bytes == bytes(100_000) })
        #expect(test.outbox.counters.deadLettered == [:] && test.outbox.counters.dropped == [:])
    }

    @Test func requestWithSecretIsRejectedAndNotWritten() throws {
        let test = try TestOutbox(sends: false)
        for request in [
            HTTPRequest(host: "example.com", headers: ["Authorization": "Bearer hush"]),
            HTTPRequest(host: "example.com", headers: ["Cookie": "hush"]),
            HTTPRequest(host: "example.com", headers: ["X-Api-Key": "hush"]),
            HTTPRequest(host: "example.com", queryItems: [HTTPQueryItem("access_token", "hush")]),
            HTTPRequest(url: try #require(URL(string: "https://user:hush@example.com/"))),
        ] {
            let error = #expect(throws: OutboxError.self) { try test.outbox.submit(bytes(1), request: request) }
            #expect(error?.code == .secret)
            #expect(error.map { !"\($0)".contains("hush") } == true)
        }
        #expect(test.disk.names == [])
        #expect(test.outbox.counters.refused == [.secret: 5])
    }

    @Test func harmlessNamesAreNotTreatedAsSecrets() throws {
        let test = try TestOutbox { $0.harmlessNames = ["x-api-KEY"] }
        try test.submit("a", to: HTTPRequest(host: "example.com", headers: ["X-Api-Key": "public"]))
        #expect(test.server.requests.first?.headers["X-Api-Key"] == "public")
    }

    @Test func invalidSubmissionIsRejected() throws {
        let test = try TestOutbox()
        let bad = HTTPRequest(host: "example.com", headers: ["X-Bad": "a\nb"])
        #expect(throws: OutboxError.self) { try test.outbox.submit(bytes(1), request: bad) }
        let full = HTTPRequest(host: "example.com", body: DataBody(bytes(1)))
        #expect(throws: OutboxError.self) { try test.outbox.submit(bytes(1), request: full) }
        #expect(throws: OutboxError.self) { try test.outbox.submit(bytes(1), identifier: "", request: upload) }
        #expect(throws: OutboxError.self) {
            try test.outbox.submit(fileAt: URL(filePath: "/nowhere/at/all"), request: upload)
        }
        #expect(test.outbox.counters.refused == [.request: 2, .identifier: 1, .unreadable: 1])
    }

    @Test func submitWithKnownIdentifierJoinsExistingReport() throws {
        let test = try TestOutbox(sends: false)
        try test.submit("a", 1)
        try test.submit("a", 2)
        #expect(test.outbox.count == 1)
        #expect(test.outbox.counters.joined == 1)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.server.receipts.map(\.bytes.count) == [1])
        try test.submit("a", 3)
        #expect(test.server.receipts.count == 2)
    }

    @Test func concurrentSubmitsWithSameIdentifierMakeOneReport() throws {
        let test = try TestOutbox(sends: false)
        DispatchQueue.concurrentPerform(iterations: 64) { index in
            _ = try? test.outbox.submit(bytes(2_000), identifier: "id-\(index % 4)", request: upload)
        }
        #expect(test.outbox.count == 4)
        #expect(test.outbox.counters.accepted == 4 && test.outbox.counters.joined == 60)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.server.receipts.count == 4)
    }

    @Test func submitDoesNotJoinFailedSubmission() throws {
        // The first is blocked while its bytes are read; the second has to wait for the outcome.
        let test = try TestOutbox(sends: false)
        let isReading = DispatchSemaphore(value: 0)
        let mayFail = DispatchSemaphore(value: 0)
        let first = Locked<OutboxError.Code?>(nil)
        let done = DispatchGroup()
        struct Torn: Error {}
        let body = StreamBody {
            isReading.signal()
            mayFail.wait()
            throw Torn()
        }
        DispatchQueue.global().async(group: done) {
            do throws(OutboxError) {
                try test.outbox.submit(HTTPRequest(method: .put, host: "example.com", body: body), identifier: "a")
            } catch {
                first.withLock { $0 = error.code }
            }
        }
        #expect(isReading.wait(timeout: .patient) == .success)
        DispatchQueue.global().async(group: done) {
            _ = try? test.outbox.submit(bytes(9), identifier: "a", request: upload)
        }
        mayFail.signal()
        #expect(done.wait(timeout: .patient) == .success)
        #expect(first.withLock { $0 } == .unreadable)
        #expect(test.outbox.count == 1 && test.outbox.counters.joined == 0)
    }

    @Test func slowListenerReceivesNewestThousandEvents() async throws {
        let test = try TestOutbox(sends: false)
        for index in 0..<1_200 { try test.outbox.submit(Data(), identifier: "\(index)", request: upload) }
        await test.outbox.close()
        var heard: [ReportEvent] = []
        for await event in test.outbox.events { heard.append(event) }
        #expect(heard == Array(test.events.suffix(1_000)))
        #expect(test.outbox.counters.accepted == 1_200)
    }

    @Test func laterStreamHasOnlyTheEventsFromThenOn() async throws {
        let test = try TestOutbox(sends: false)
        let (first, second) = (try #require(ReportID("a")), try #require(ReportID("b")))
        let whole = test.outbox.events
        try test.submit("a")
        let later = test.outbox.events
        try test.submit("b")
        await test.outbox.close()
        var heard: [[ReportEvent]] = [[], []]
        for await event in whole { heard[0].append(event) }
        for await event in later { heard[1].append(event) }
        #expect(heard == [[.accepted(first), .accepted(second)], [.accepted(second)]])
    }

    @Test func reportWithTemporarilyUnreadableBodyIsSentLater() throws {
        let isReadable = Locked(false)
        let server = FakeServer { request, _ in
            guard !isReadable.withLock({ $0 }) else { return .status(.ok) }
            return .unreadable
        }
        let test = try TestOutbox(server)
        try test.submit("a")
        #expect(test.outbox.count == 1)
        isReadable.withLock { $0 = true }
        test.outbox.sendNow()
        test.outbox.drain()
        #expect(test.outbox.counters.delivered == 1)
    }

    @Test func closedOutboxRejectsSubmit() async throws {
        let test = try TestOutbox()
        await test.outbox.close()
        let error = #expect(throws: OutboxError.self) { try test.outbox.submit(bytes(1), request: upload) }
        #expect(error?.code == .closed)
        for await _ in test.outbox.events {}
        for await _ in test.outbox.events {}
    }

    @Test func responseDecidesOutcomeOfReport() async throws {
        let server = FakeServer(first: [
            .status(.badRequest), .status(.gone), .status(.movedPermanently), .status(.conflict),
            .failure(.invalidRequest),
            .status(HTTPStatus(418)),
        ])
        let test = try TestOutbox(server) {
            $0.outcomes[HTTPStatus(418)] = .delivered
            $0.outcomes[.gone] = .drop
        }
        for id in ["400", "410", "301", "409", "broken", "418"] { try test.submit(id) }
        #expect(test.outbox.counters.deadLettered == ["refused-400": 1, "failed-invalidRequest": 1])
        #expect(test.outbox.counters.dropped == ["refused-410": 1])
        #expect(test.outbox.counters.delivered == 1)
        #expect(test.outbox.count == 2)
        await test.outbox.close()
        var events: [ReportEvent] = []
        for await event in test.outbox.events { events.append(event) }
        #expect(events == test.events)
    }

    /// The table in the documentation of `OutcomeTable`, row by row.
    @Test func verdictsAreThoseOfTheTable() {
        let table = OutcomeTable()
        for status in 200..<600 {
            let verdict: ReportVerdict =
                switch status {
                case 200..<300: .delivered
                case 300..<400, 401, 407, 408, 409, 421, 423, 425, 429: .retry
                case 400..<500, 501, 505: .deadLetter
                default: .retry
                }
            #expect(table[HTTPStatus(status)] == verdict, "\(status)")
        }
        let others: [HTTPError.Code] = [
            .timedOut, .connectionLost, .insecureConnection, .authenticationRequired, .authenticationFailed,
            .invalidResponse, .responseTooLarge, .tooManyRedirects, .deadlineExceeded, .abandoned, .unknown,
        ]
        let rows: [(ReportVerdict, [HTTPError.Code])] = [
            (.waitForConnection, [.cannotConnect, .circuitOpen, .queueFull, .queueTimedOut, .rateLimited, .shed]),
            (.interrupted, [.cancelled, .resetInProgress]), (.deadLetter, [.invalidRequest]), (.retry, others),
        ]
        for (verdict, codes) in rows {
            for code in codes { #expect(table[code] == verdict, "\(code)") }
        }
        func outcome(_ code: HTTPError.Code, _ status: HTTPStatus) -> ReportVerdict {
            let response = HTTPResponse(request: upload, status: status)
            return table.verdict(on: .failure(HTTPError(code, request: upload, response: response)))
        }
        // A loader of the chain has refused a response: its status decides, but it was no success.
        #expect(outcome(.invalidResponse, .notFound) == .deadLetter && outcome(.invalidResponse, .ok) == .retry)
        #expect(outcome(.authenticationRequired, .unauthorized) == .retry && outcome(.connectionLost, .ok) == .retry)
        #expect(outcome(.cancelled, .notFound) == .interrupted && outcome(.resetInProgress, .ok) == .interrupted)
    }
}
