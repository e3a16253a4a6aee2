import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// A rejection of a single report is the report's fault; rejections of all reports are the server's.
@Suite(.timeLimit(.minutes(10)))
struct RefusalTests {
    @Test(arguments: [HTTPStatus.notFound, .forbidden, .gone, .badRequest])
    func briefRejectionDoesNotDiscardBacklog(_ status: HTTPStatus) throws {
        let answers = Locked(0)
        let server = FakeServer { _, _ in
            answers.withLock { count in
                count += 1
                return .status(count <= 20 ? status : .ok)
            }
        }
        let test = try TestOutbox(server, sends: false)
        for index in 0..<1_000 { try test.submit("\(index)") }
        test.outbox.startSending()
        test.outbox.drain()
        while test.outbox.count > 0, test.timers.advanceToNext() { test.outbox.drain() }
        #expect(test.outbox.counters.dropped == [:])
        #expect(test.outbox.deadLetters.count <= 2)
        #expect(test.outbox.counters.delivered + test.outbox.deadLetters.count == 1_000)
    }

    @Test func permanentNotFoundDropsNoReport() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.notFound) }, sends: false)
        for index in 0..<300 { try test.submit("\(index)") }
        test.outbox.startSending()
        test.outbox.drain()
        var probes: [Int] = []
        while test.timers.now < TimerInstant(nanoseconds: 0).advanced(by: .seconds(60 * 24 * 3600)),
            test.outbox.count > 0, test.timers.advanceToNext()
        {
            let before = test.server.receipts.count
            test.outbox.drain()
            probes.append(test.server.receipts.count - before)
        }
        #expect(test.outbox.counters.dropped == [:])
        #expect(test.outbox.count + test.outbox.deadLetters.count == 300)
        // One report at a time is tried, and not all of them repeatedly.
        #expect(probes.allSatisfy { $0 <= 1 })
        #expect(test.server.receipts.count < 6_000)
    }

    /// As with a token that nobody renews for hours: the reports are not at fault, and neither is the address.
    @Test(arguments: [HTTPStatus.unauthorized, HTTPStatus(407)])
    func rejectedCredentialsGiveUpNoReport(_ status: HTTPStatus) throws {
        let isSignedIn = Locked(false)
        let test = try TestOutbox(FakeServer { _, _ in .status(isSignedIn.withLock(\.self) ? .ok : status) })
        for id in ["a", "b", "c", "d"] { try test.submit(id) }
        test.advance(.seconds(5 * 3_600))
        #expect(test.server.receipts.count > 8)
        #expect(test.outbox.count == 4 && test.outbox.deadLetters.isEmpty)
        #expect(test.outbox.counters.deadLettered == [:] && test.outbox.counters.dropped == [:])
        isSignedIn.withLock { $0 = true }
        test.advance(.seconds(3_600))
        #expect(test.outbox.counters.delivered == 4 && test.outbox.count == 0)
    }

    @Test func pauseAppliesOnlyToItsServerAndSurvivesLaunch() throws {
        let server = FakeServer { request, _ in .status(request.host == "bad.example" ? .notFound : .ok) }
        let bad = HTTPRequest(method: .put, host: "bad.example", path: "/")
        let test = try TestOutbox(server, sends: false) { $0.firstDelay = .seconds(1_000) }
        for index in 0..<10 { try test.submit("bad-\(index)", to: bad) }
        for index in 0..<10 { try test.submit("good-\(index)") }
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.outbox.counters.delivered == 10)
        let tried = server.requests.count { $0.host == "bad.example" }
        #expect(tried <= 6)
        test.outbox.abandon()
        let next = try TestOutbox(server, disk: test.disk)
        #expect(server.requests.count { $0.host == "bad.example" } == tried)
        #expect(next.outbox.count == 8)
    }

    @Test(arguments: ["Retry-After", "X-Sentry-Rate-Limits"])
    func pauseGrowsDespiteShortRequestedWait(_ header: String) throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.notFound, [header: "1"]) }) {
            $0.refusalsBeforePause = 1
        }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 50)
        let last = try #require(times.last)
        #expect(times.count > 20 && last > 3_600)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 0.999 })
    }

    @Test func rejectedReportsAreDeadLetteredAndOthersDelivered() throws {
        let server = FakeServer { request, _ in
            .status(request.headers["Idempotency-Key"]?.hasPrefix("bad") == true ? .badRequest : .ok)
        }
        let test = try TestOutbox(server, sends: false)
        for index in 0..<40 { try test.submit(index % 4 < 3 ? "bad-\(index)" : "good-\(index)") }
        test.outbox.startSending()
        test.outbox.drain()
        while test.outbox.count > 0, test.timers.advanceToNext() { test.outbox.drain() }
        #expect(test.outbox.counters.delivered == 10)
        #expect(test.outbox.deadLetters.count == 30)
    }

    @Test func rejectedHighPriorityReportsDoNotBlockOthers() throws {
        let server = FakeServer { request, _ in
            .status(request.headers["Idempotency-Key"]?.hasPrefix("crash") == true ? .badRequest : .ok)
        }
        let test = try TestOutbox(server, sends: false) { $0.maximumInFlight = 1 }
        try test.submit("log")
        for id in ["crash-1", "crash-2", "crash-3"] {
            try test.outbox.submit(bytes(10), identifier: id, request: upload, priority: .high)
        }
        test.outbox.startSending()
        test.outbox.drain()
        #expect(server.keys == ["crash-1", "crash-2", "crash-3"])
        // The first probe after the pause.
        #expect(test.timers.advanceToNext())
        test.outbox.drain()
        #expect(server.keys.dropFirst(3).first == "log")
        #expect(test.outbox.counters.delivered == 1)
    }

    @Test func defaultDeadLetterLimitsCoverOutboxLimits() throws {
        let settings = OutboxSettings()
        #expect(settings.maximumDeadLetterCount >= settings.maximumCount)
        #expect(settings.maximumDeadLetterBytes >= settings.maximumBytes)
    }

    /// The numbers of the guide on durability.
    @Test func defaultsAreThoseOfTheGuide() {
        let settings = OutboxSettings()
        #expect(settings.maximumAge == .seconds(2 * 86_400) && settings.maximumAttempts == 50)
        #expect(settings.maximumDeadLetterCount == 10_000 && settings.maximumDeadLetterBytes == 256 << 20)
        #expect(settings.refusalsBeforePause == 3 && settings.maximumInFlight == 5)
        #expect(settings.durability == .process && settings.whenFull == .refuseNew)
    }
}
