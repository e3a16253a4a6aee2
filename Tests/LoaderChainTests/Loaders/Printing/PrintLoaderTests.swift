import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct PrintLoaderTests {
    private let terminal = ScriptedTerminal()
    private let timers = ManualTimers()
    private let log = EventLog()

    @Test func requestAndResponseAreShownWithoutSecrets() throws {
        var request = HTTPRequest(method: .post, host: "example.com", path: "/users", body: JSONBody(["name": "Ada"]))
        request.query = "token=t0p&page=2"
        request.headers = ["Accept": "application/json", "Authorization": "Bearer t0p"]
        let held = try load(request, PrintLoader(bodyLimit: 100, timers: timers) { [log] in log.note($0) })
        timers.advance(by: .microseconds(12_345))
        terminal.answer(held, .created, headers: ["Set-Cookie": "s=t0p"], body: #"{"id":1}"#)
        let number = "#\(held.number)"
        #expect(
            log.events == [
                """
                → \(number) POST https://example.com/users?token=redacted&page=redacted
                    Accept: application/json
                    Authorization: <redacted>
                    Content-Type: application/json
                    {"name":"Ada"}
                """,
                """
                ← \(number) 201 Created after 12.3 ms, 8 bytes
                    Set-Cookie: <redacted>
                    {"id":1}
                """,
            ])
    }

    @Test func requestCanHideItsBodies() throws {
        for limit in [0, 100] {
            let log = EventLog()
            let print = PrintLoader(showsHeaders: false, bodyLimit: limit, timers: timers) { log.note($0) }
            var request = HTTPRequest(method: .post, host: "example.com", path: "/", body: DataBody(Data("t0p".utf8)))
            request.hidesBodies = true
            terminal.answer(try load(request, print), .ok, body: "t0p")
            #expect(log.events.count == 2 && !log.events.joined().contains("t0p"))
            #expect(log.events.allSatisfy { $0.contains("hidden") == (limit > 0) })
        }
    }

    @Test func bodiesAreHiddenByDefaultAndHeadersIfDisabled() throws {
        let request = HTTPRequest(
            method: .post, host: "example.com", path: "/", headers: ["A": "b"], body: DataBody(Data("secret".utf8)))
        let held = try load(request, PrintLoader(showsHeaders: false, timers: timers) { [log] in log.note($0) })
        terminal.answer(held, .ok, headers: ["C": "d"], body: "secret")
        #expect(log.events.map { $0.split(separator: "\n").count } == [1, 1])
        #expect(!log.events.joined().contains("secret"))
    }

    @Test func errorIsShownOnOneLine() throws {
        let held = try load(.sample, PrintLoader(timers: timers) { [log] in log.note($0) })
        timers.advance(by: .seconds(30))
        held.fail(.timedOut, reason: "line one\nline two")
        #expect(
            log.events.last?.hasPrefix("← #\(held.number) failed after 30000.0 ms. timedOut (ScriptedTerminal)") == true
        )
        #expect(log.events.last?.contains("\n") == false)
    }

    @Test func releasedChainAbandonsTasksThatWait() {
        weak var gone: Throttle?
        do {
            let throttle = Throttle(maximumNumberOfRequests: 0)
            gone = throttle
            let chain = PrintLoader(timers: timers, output: { [log] in log.note($0) }) --> throttle
            chain.load(request: .sample) { [log] in log.note($0.summary) }
        }
        #expect(gone == nil)
        #expect(log.events.count == 3 && log.events.last == "abandoned")
    }

    @Test func bodyIsCutBetweenCharacters() {
        #expect(lines("äöü", limit: 3) == ["ä", "… and 3 more bytes"])
        #expect(lines("äöü", limit: 6) == ["äöü"])
        #expect(lines("äöü", limit: 0) == [])
        #expect(lines("one\ntwo\r\u{1B}[1m", limit: 100).count == 2)
        #expect(!lines("one\ntwo\r\u{1B}[1m", limit: 100).joined().contains("\u{1B}"))
        #expect(PrintedBody(Data([0xFF, 0xFE]), limit: 10).lines == ["<2 bytes of binary data>"])
    }

    @Test func printedBodyIsLimitedAndConsumedBodyIsNotRead() {
        struct Endless: HTTPBody {
            var canBeSentAgain: Bool
            func encode() throws -> HTTPBodyContent {
                guard canBeSentAgain else { throw HTTPBodyError("It was read for a log.") }
                return .data(Data(repeating: UInt8(ascii: "x"), count: 1_000_000))
            }
        }
        let shown = PrintedBody(Endless(canBeSentAgain: true), limit: 3).lines
        #expect(shown == ["xxx", "… and 999997 more bytes"])
        #expect(PrintedBody(Endless(canBeSentAgain: false), limit: 3).lines == ["<a body that can be read only once>"])
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { PrintLoader(bodyLimit: 10, timers: $0) { _ in } }
            .run()
        #expect(violations.isEmpty, "\(violations)")
    }

    private func load(_ request: HTTPRequest, _ loader: PrintLoader) throws -> HTTPTask {
        (loader --> terminal).load(request: request) { _ in }
        return try #require(terminal.held.first)
    }

    private func lines(_ body: String, limit: Int) -> [String] { PrintedBody(Data(body.utf8), limit: limit).lines }
}
