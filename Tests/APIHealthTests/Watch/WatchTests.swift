import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct WatchTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func arguments(_ texts: String...) throws -> WatchArguments {
        try WatchArguments(WatchArguments.syntax.parse(texts))
    }

    private func start(_ arguments: WatchArguments, _ program: TestProgram) -> Task<ProgramStatus, any Error> {
        Task { [terminal] in try await Watch(arguments, in: program.surroundings, terminal: terminal).run() }
    }

    @Test func everyCheckPrintsOneLine() async throws {
        let program = TestProgram(timers: timers)
        let watch = start(
            try arguments(
                "http://a.example/health?key=secret", "--every", "5s", "--count", "4", "--file", folder.path("m.lp")),
            program)
        for (index, answer) in [200, 503, nil, 204].enumerated() {
            if index > 0 {
                await timers.waitForPending(count: 1)
                timers.advance(by: .seconds(5) - .milliseconds(12))
            }
            let task = await terminal.next()
            timers.advance(by: .milliseconds(12))
            if let answer { terminal.answer(task, HTTPStatus(answer)) } else { terminal.refuse(task, .cannotConnect) }
        }
        #expect(try await watch.value == .unhealthy)
        #expect(
            program.written.text == """
                Checking every 5 s, expecting 2xx:
                  http://a.example/health?key=redacted
                2024-01-01T00:00:00Z  ok   200     12 ms  http://a.example/health?key=redacted
                2024-01-01T00:00:05Z  BAD  503     12 ms  http://a.example/health?key=redacted
                2024-01-01T00:00:10Z  BAD  cannot connect    12 ms  http://a.example/health?key=redacted
                2024-01-01T00:00:15Z  ok   204     12 ms  http://a.example/health?key=redacted
                2024-01-01T00:00:15Z  UP    http://a.example/health?key=redacted: healthy again after 10.0 s

                  endpoint                              checks    ok    p50    p90    p99    max  outages  down for  last
                ● http://a.example/health?key=redacted       4  50 %  12 ms  12 ms  12 ms  12 ms        1    10.0 s  204
                4 points of metrics went to \(folder.path("m.lp"))

                """)
        let points = try folder.text("m.lp").split(separator: "\n")
        #expect(points.count == 4)
        #expect(!points.joined().contains("secret"))
    }

    @Test func headersAndTokenOfEnvironmentAreSentAndNotShown() async throws {
        var list = try WatchArguments.syntax.parse([
            "http://a/", "--once", "--header", "X-Probe: 7", "--bearer-env", "TOKEN",
        ])
        list.environment = ["TOKEN": "t0ken"]
        let program = TestProgram(timers: timers)
        let watch = start(try WatchArguments(list), program)
        let task = await terminal.next()
        #expect(task.request.headers["Authorization"] == "Bearer t0ken")
        #expect(task.request.headers["X-Probe"] == "7")
        terminal.answer(task)
        #expect(try await watch.value == .success)
        #expect(!(program.written.text + program.complaints.text).contains("t0ken"))
    }

    @Test func quietWatchPrintsOnlyChangesAndSummary() async throws {
        let program = TestProgram(timers: timers)
        let watch = start(try arguments("http://a/", "--count", "3", "--quiet"), program)
        for (index, status) in [200, 500, 200].enumerated() {
            if index > 0 {
                await timers.waitForPending(count: 1)
                timers.advance(by: .seconds(5))
            }
            terminal.answer(await terminal.next(), HTTPStatus(status))
        }
        #expect(try await watch.value == .unhealthy)
        #expect(
            program.written.text == """
                2024-01-01T00:00:05Z  DOWN  http://a/: 500
                2024-01-01T00:00:10Z  UP    http://a/: healthy again after 5.00 s
                  endpoint   checks    ok   p50   p90   p99   max  outages  down for  last
                ● http://a/       3  67 %  0 ms  0 ms  0 ms  0 ms        1    5.00 s  200

                """)
    }

    @Test func onceOptionChecksEveryEndpointOnce() async throws {
        let program = TestProgram(timers: timers)
        let watch = start(try arguments("http://a/", "http://b/", "--once", "--quiet", "--json"), program)
        for _ in 0..<2 { terminal.answer(await terminal.next()) }
        #expect(try await watch.value == .success)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(program.written.text.utf8)) as? [String: Any])
        #expect(report["isAllHealthy"] as? Bool == true)
        #expect((report["endpoints"] as? [[String: Any]])?.map { $0["url"] as? String } == ["http://a/", "http://b/"])
        #expect((report["endpoints"] as? [[String: Any]])?.map { $0["checks"] as? Int } == [1, 1])
    }

    @Test func concurrencyIsLimitedAndQueueTimeIsNotMeasured() async throws {
        let program = TestProgram(timers: timers)
        let watch = start(
            try arguments("http://a/", "http://b/", "http://c/", "--once", "--json", "--concurrency", "1"), program)
        for _ in 0..<3 {
            let task = await terminal.next()
            #expect(terminal.held.count == 1)
            timers.advance(by: .milliseconds(40))
            terminal.answer(task)
        }
        #expect(try await watch.value == .success)
        // Each is told the time of its own check, not that of the line before it.
        #expect(program.written.text.components(separatedBy: "\"maximum\" : 40").count == 4)
    }

    @Test func slowCheckTimesOutAndIsUnhealthy() async throws {
        let program = TestProgram(timers: timers)
        let watch = start(try arguments("http://a/", "--once", "--timeout", "2s", "--quiet"), program)
        _ = await terminal.next()
        timers.advance(by: .seconds(2))
        #expect(try await watch.value == .unhealthy)
        #expect(program.written.text.contains("DOWN  http://a/: timed out"))
    }

    @Test(arguments: ["GET", "POST"]) func successfulRetryMakesCheckHealthy(_ method: String) async throws {
        let program = TestProgram(timers: timers)
        let watch = start(
            try arguments("http://a/", "--method", method, "--once", "--retries", "2", "--json"), program)
        terminal.answer(await terminal.next(), .serviceUnavailable)
        // The pause began before the answer returned.
        try #require(timers.pendingCount > 0)
        timers.advance(by: .milliseconds(200))
        terminal.answer(await terminal.next())
        #expect(try await watch.value == .success)
    }

    @Test func stopEndsWatchWithItsResults() async throws {
        let program = TestProgram(timers: timers)
        let watch = start(
            try arguments("http://a/", "http://b/", "--json", "--file", folder.path("m.lp")), program)
        let first = await terminal.next()
        _ = await terminal.next()
        terminal.answer(first)
        // The other one's deadline, and the wait for the next check.
        await timers.waitForPending(count: 2)
        program.surroundings.stop.request()
        // One endpoint was never found healthy.
        #expect(try await watch.value == .unhealthy)
        let text = program.written.text
        #expect(text.contains("\"cancelled\" : 1"))
        #expect(text.contains("\"points\" : 2"))
        #expect(try folder.text("m.lp").split(separator: "\n").count == 2)
        #expect(try folder.text("m.lp").contains("outcome=cancelled"))
    }

    @Test func lostOutputEndsWatchAndFailsUnlessPipeIsClosed() async throws {
        for (code, status) in [(EPIPE, ProgramStatus.success), (ENOSPC, ProgramStatus.failure)] {
            var program = TestProgram(timers: timers)
            let stop = program.surroundings.stop
            // It is lost before anything was checked.
            program.surroundings.output = Output({ (_) throws(Output.Lost) in
                stop.request()
                throw Output.Lost(code: code)
            })
            let watch = start(try arguments("http://a/"), program)
            #expect(try await watch.value == status)
        }
    }

    @Test func pointLostOnFullDiskIsReported() async throws {
        #if os(Linux)
            let program = TestProgram(timers: timers)
            let watch = start(try arguments("http://a/", "--once", "--quiet", "--file", "/dev/full"), program)
            terminal.answer(await terminal.next())
            #expect(try await watch.value == .failure)
            #expect(program.written.text.hasSuffix("1 point could not be written; is the disk full?\n"))
        #endif
    }
}
