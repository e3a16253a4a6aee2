import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// When a report is retried, and when no longer.
@Suite(.timeLimit(.minutes(10))) struct RetryTests {
    @Test func reportIsDeadLetteredAfterMaximumAttempts() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.serviceUnavailable) }) { $0.maximumAttempts = 7 }
        try test.submit("a")
        #expect(test.attemptTimes(atMost: 100).count == 7)
        #expect(test.outbox.count == 0)
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["too-many-attempts"])
        #expect(test.outbox.counters.deadLettered == ["too-many-attempts": 1])
        #expect(test.timers.pendingCount == 0)
    }

    @Test func deadLetterIsListedWhenItsEventComes() throws {
        let (place, listed) = (Locked<ReportOutbox?>(nil), Locked<[Int]>([]))
        let outbox = try ReportOutbox(
            files: MemoryDirectory(), chain: FakeServer { _, _ in .status(.badRequest) },
            settings: .test(), startsSending: false,
            onEvent: { event in
                guard case .deadLettered = event, let outbox = place.withLock({ $0 }) else { return }
                listed.withLock { $0.append(outbox.deadLetters.count) }
            })
        place.withLock { $0 = outbox }
        try outbox.submit(bytes(10), identifier: "a", request: upload)
        outbox.startSending()
        outbox.drain()
        #expect(listed.withLock { $0 } == [1])
        place.withLock { $0 = nil }
    }

    @Test func delaysDoubleUpToTheirCapWithFullJitter() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.internalServerError) }) {
            $0.maximumAttempts = 12
            $0.firstDelay = .seconds(10)
            $0.maximumDelay = .seconds(100)
        }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 12)
        for (index, delay) in zip(times, times.dropFirst()).map({ $1 - $0 }).enumerated() {
            #expect(delay <= min(100, 10 * Double(1 << index)) + 0.001)
        }
        #expect(Set(times).count == times.count)
    }

    @Test func delayDoesNotGrowBeyondRetryAfter() throws {
        let server = FakeServer { _, _ in .status(.serviceUnavailable, ["Retry-After": "1"]) }
        let test = try TestOutbox(server)
        try test.submit("a")
        let times = test.attemptTimes(atMost: 20)
        let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(pauses.count == 19 && pauses.allSatisfy { 1...1.125 ~= $0 })
    }

    /// A server that always asks to wait postpones indefinitely: a report that it has not rejected is kept until the end.
    @Test func reportPostponedByServerIsDeadLetteredAtMaximumAge() throws {
        let server = FakeServer { _, _ in .status(.serviceUnavailable, ["Retry-After": "1"]) }
        let test = try TestOutbox(server) { $0.maximumAge = .seconds(300) }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 1_000)
        let last = try #require(times.last)
        #expect(300...302 ~= last && times.count > OutboxSettings().maximumAttempts)
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["expired"])
        #expect(test.outbox.counters.dropped == [:] && test.outbox.count == 0)
    }

    /// It is uploaded each time, so attempts count and delays grow as usual.
    @Test func contentTooLargeIsDeadLetteredAfterMaximumAttempts() throws {
        let server = FakeServer { _, _ in .status(.contentTooLarge, ["Retry-After": "1"]) }
        let test = try TestOutbox(server) { $0.maximumAttempts = 8 }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 1_000)
        let last = try #require(times.last)
        #expect(times.count == 8 && last > 60)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 0.999 })
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["too-many-attempts"])
        #expect(test.outbox.counters.dropped == [:] && test.outbox.count == 0)
    }

    @Test func retryAfterIsIgnoredIfMaximumRetryAfterIsZero() throws {
        let server = FakeServer { _, _ in .status(.serviceUnavailable, ["Retry-After": "1"]) }
        let test = try TestOutbox(server) {
            $0.maximumAttempts = 5
            $0.maximumRetryAfter = .zero
        }
        try test.submit("a")
        #expect(test.attemptTimes(atMost: 1_000).count == 5)
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["too-many-attempts"])
    }

    /// A report that no server has seen is never lost silently, however long the network was down.
    @Test(arguments: [HTTPError.Code.cannotConnect, .circuitOpen, .queueFull, .timedOut, .connectionLost])
    func reportWithoutResponseIsDeadLetteredAndNotDropped(_ code: HTTPError.Code) throws {
        let test = try TestOutbox(FakeServer { _, _ in .failure(code) }) { $0.maximumAge = .seconds(3_600) }
        try test.submit("a")
        _ = test.attemptTimes(atMost: 10_000)
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["expired"])
        #expect(test.outbox.counters.dropped == [:] && test.outbox.count == 0)
    }

    @Test func reportInterruptedByKillIsDeadLetteredAndNotDropped() throws {
        let disk = MemoryDirectory()
        let isKilled = Locked(false)
        let server = FakeServer { _, _ in isKilled.withLock(\.self) ? .failure(.cannotConnect) : .silence }
        do {
            let test = try TestOutbox(server, disk: disk)
            try test.submit("a")
            disk.kill()
            test.outbox.abandon()
            test.outbox.drain()
            disk.revive()
        }
        isKilled.withLock { $0 = true }
        let test = try TestOutbox(server, disk: disk) { $0.maximumAge = .seconds(3_600) }
        // The server's result of that attempt is unknown, so it stays counted.
        #expect(test.outbox.reports.map(\.attempts) == [1])
        _ = test.attemptTimes(atMost: 10_000)
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["expired"])
        #expect(test.outbox.counters.dropped == [:] && test.outbox.count == 0)
    }

    @Test func sendNowDoesNotCountAttempts() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.serviceUnavailable) }) { $0.maximumAttempts = 5 }
        try test.submit("a")
        for _ in 0..<50 {
            test.outbox.sendNow()
            test.outbox.drain()
        }
        #expect(test.server.receipts.count == 51)
        #expect(test.outbox.count == 1 && test.outbox.deadLetters.isEmpty)
        // Attempts that are due count as usual.
        _ = test.attemptTimes(atMost: 200)
        #expect(test.server.receipts.count == 51 + 4 && test.outbox.deadLetters.count == 1)
    }

    @Test func hangingHostDoesNotDelayOtherHosts() throws {
        let server = FakeServer { request, _ in request.host == "hangs" ? .silence : .status(.ok) }
        let test = try TestOutbox(server)
        for number in 0..<40 { try test.submit("h\(number)", to: HTTPRequest(method: .put, host: "hangs", path: "/")) }
        #expect(server.keys == ["h0"])
        for number in 0..<10 { try test.submit("\(number)") }
        #expect(server.keys == ["h0"] + (0..<10).map { "\($0)" })
        // The same after its attempt has failed.
        test.advance(.seconds(700))
        #expect(test.outbox.counters.delivered == 10)
        #expect(server.keys.count { $0.hasPrefix("h") } <= 3)
    }

    @Test func answeringHostGetsAllSlotsButTheLast() throws {
        let isSilent = Locked(false)
        let server = FakeServer { _, _ in isSilent.withLock(\.self) ? .silence : .status(.ok) }
        let test = try TestOutbox(server)
        for number in 0..<10 { try test.submit("\(number)") }
        isSilent.withLock { $0 = true }
        for number in 10..<20 { try test.submit("\(number)") }
        // Except for the last slot, which is for other servers.
        #expect(server.keys.count == 10 + 4)
        try test.submit("elsewhere", to: HTTPRequest(method: .put, host: "other.example.com", path: "/"))
        #expect(server.keys.last == "elsewhere")
    }

    @Test func pauseOfHostDoesNotAffectThousandOthers() throws {
        let server = FakeServer { request, _ in
            request.host == "crash.example.com" ? .status(.tooManyRequests, ["Retry-After": "86400"]) : .status(.ok)
        }
        let test = try TestOutbox(server)
        let paused = HTTPRequest(method: .put, host: "crash.example.com", path: "/")
        try test.submit("first", to: paused)
        for number in 0..<1_000 {
            try test.submit("\(number)", to: HTTPRequest(method: .put, host: "api\(number).example.org", path: "/"))
        }
        #expect(test.outbox.counters.delivered == 1_000)
        // The others have not ended the pause either.
        try test.submit("second", to: paused)
        #expect(server.keys.count == 1_001 && test.outbox.count == 2)
    }

    /// The clock of the timers stops while the machine sleeps, and that of the outbox does not.
    @Test func longWaitIsLookedAtAgainSoon() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.serviceUnavailable, ["Retry-After": "86400"]) })
        try test.submit("a")
        for _ in 0..<3 {
            let next = try #require(test.timers.nextDeadline)
            #expect(test.timers.now.duration(to: next) <= .seconds(300))
            #expect(test.timers.advanceToNext())
            test.outbox.drain()
        }
        #expect(test.server.receipts.count == 1)
    }

    /// Of reports that wait for a consent or the network, too, the outbox keeps no more than it holds.
    @Test func droppedReportsLeaveNothingInQueueThatStands() throws {
        let test = try TestOutbox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 10
        }
        for number in 0..<2_000 { try test.submit("\(number)") }
        let items = test.outbox.engine.shared.withLock { shared in
            shared.outbox.lanes.reduce(0) { sum, lane in
                ReportPriority.all.reduce(sum) { $0 + lane.waiting[$1].count }
            }
        }
        #expect(test.outbox.count == 10 && items <= 100)
    }

    @Test func contentTooLargeWithRetryAfterDoesNotDelaySmallReports() throws {
        let server = FakeServer { _, bytes in
            bytes.count > 100 ? .status(.contentTooLarge, ["Retry-After": "3600"]) : .status(.ok)
        }
        let test = try TestOutbox(server)
        try test.submit("large", 1_000)
        for number in 0..<5 { try test.submit("\(number)") }
        #expect(test.outbox.counters.delivered == 5 && test.outbox.count == 1)
        test.advance(.seconds(3_000))
        #expect(server.keys.count { $0 == "large" } == 1)
    }

    @Test func reportExpiresOnFirstFailureAfterMaximumAge() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.badGateway) }) {
            $0.maximumAge = .seconds(3600)
            $0.maximumAttempts = 1_000_000
            $0.maximumDelay = .seconds(300)
        }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 10_000)
        let last = try #require(times.last)
        #expect(3_600...3_900 ~= last)
        let id = try #require(ReportID("a"))
        #expect(test.events.last == .dropped(id, because: .expired))
        #expect(test.outbox.counters.dropped == ["expired": 1])
    }

    @Test(arguments: [
        ("120", 120.0), ("  7 ", 7), ("99999999999999", 86_400), ("99999999999999999999999999999", 86_400),
        ("Mon, 01 Jan 2024 00:10:00 GMT", 600), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
    ])
    func retryWaitsForRetryAfter(_ header: String, _ seconds: Double) throws {
        let server = FakeServer(first: [.status(.tooManyRequests, ["Retry-After": header])])
        let test = try TestOutbox(server) { $0.firstDelay = .zero }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 10)
        // Jitter adds a little, so that not all clients return at the same moment.
        #expect(times.count == 2 && (seconds...seconds * 1.125).contains(times[1]))
        #expect(test.outbox.counters.delivered == 1)
    }

    @Test(arguments: [
        "-5", "", "soon", "1e9", "0x10", "Mon, 01 Jan 2001 00:00:00 GMT", "Mon, 99 Jan 2024 99:00:00 GMT",
    ])
    func invalidRetryAfterFallsBackToBackoff(_ header: String) throws {
        let server = FakeServer(first: [.status(.serviceUnavailable, ["Retry-After": header])])
        let test = try TestOutbox(server) { $0.firstDelay = .seconds(10) }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 10)
        #expect(times.count == 2)
        #expect(times.last.map { 0...10 ~= $0 } == true)
    }

    @Test func retryAfterHoldsAllReportsToServerAndSurvivesLaunch() throws {
        let disk = MemoryDirectory()
        let server = FakeServer(first: [.status(.tooManyRequests, ["Retry-After": "1000"])])
        let date: Date
        do {
            let test = try TestOutbox(server, disk: disk)
            try test.submit("a")
            try test.submit("b")
            try test.submit("elsewhere", to: HTTPRequest(method: .put, host: "other.example.com", path: "/"))
            #expect(server.keys == ["a", "elsewhere"])
            test.advance(.seconds(400))
            date = test.timers.date
        }
        let timers = ManualTimers(date: date)
        let test = try TestOutbox(server, disk: disk) { $0.timers = timers }
        try test.submit("c")
        timers.advance(by: .seconds(599))
        test.outbox.drain()
        #expect(server.keys.count == 2)
        timers.advance(by: .seconds(126))
        test.outbox.drain()
        #expect(server.keys.dropFirst(2).sorted() == ["a", "b", "c"])
    }

    @Test func attemptsAreCountedAcrossLaunches() throws {
        let disk = MemoryDirectory()
        let server = FakeServer { _, _ in .status(.serviceUnavailable) }
        for launch in 1...4 {
            let test = try TestOutbox(server, disk: disk) { $0.maximumAttempts = 5 }
            if launch == 1 { try test.submit("a") }
            while server.receipts.count < launch + 1, test.timers.advanceToNext() { test.outbox.drain() }
            #expect(server.receipts.count == launch + 1)
            if launch == 4 { break }
            disk.kill()
            test.outbox.abandon()
            test.outbox.drain()
            disk.revive()
        }
        let test = try TestOutbox(server, disk: disk)
        #expect(test.outbox.deadLetters.count == 1 && test.outbox.count == 0)
    }

    /// Its attempts are counted before they start, and never end.
    @Test func reportThatCrashesProcessIsDeadLettered() throws {
        let disk = MemoryDirectory()
        let server = FakeServer { _, _ in .silence }
        for launch in 1...20 {
            let test = try TestOutbox(server, disk: disk) { $0.maximumAttempts = 5 }
            if launch == 1 { try test.submit("a") }
            test.outbox.sendNow()
            test.outbox.drain()
            disk.kill()
            test.outbox.abandon()
            test.outbox.drain()
            disk.revive()
        }
        let test = try TestOutbox(server, disk: disk)
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["too-many-attempts"] && test.outbox.count == 0)
        // One more than the maximum, because the last attempt may continue without the process.
        #expect(server.receipts.count == 6)
    }

    @Test func silentServerIsTriedUpToMaximumAttempts() throws {
        let timers = ManualTimers()
        let terminal = ScriptedTerminal()
        let book = EventBook()
        var settings = OutboxSettings.test(timers)
        settings.attemptTimeout = .seconds(60)
        settings.maximumAttempts = 4
        settings.maximumInFlight = 2
        let outbox = try ReportOutbox(
            files: MemoryDirectory(), chain: terminal, settings: settings, onEvent: { book.note($0) })
        for id in ["a", "b", "c"] { try outbox.submit(bytes(1), identifier: id, request: upload) }
        outbox.drain()
        #expect(terminal.held.count == 1)
        var rounds = 0
        while outbox.count > 0, rounds < 100, timers.advanceToNext() {
            outbox.drain()
            rounds += 1
        }
        #expect(terminal.requests.count == 12)
        #expect(outbox.deadLetters.count == 3)
        #expect(timers.pendingCount == 0)
        #expect(book.events.contains { if case .willRetry(_, _, .error(.timedOut)) = $0 { true } else { false } })
    }

    @Test(
        arguments: [HTTPError.Code.cannotConnect, .circuitOpen, .queueFull, .queueTimedOut, .rateLimited, .shed])
    func unsentRequestCountsNoAttemptAndOneReportProbes(_ code: HTTPError.Code) throws {
        let isOnline = Locked(false)
        let attempts = Locked(0)
        let server = FakeServer { _, _ in
            attempts.withLock { $0 += 1 }
            return isOnline.withLock { $0 } ? .status(.ok) : .failure(code)
        }
        let test = try TestOutbox(server) {
            $0.maximumAttempts = 2
            $0.maximumInFlight = 1
            $0.firstDelay = .seconds(1)
            $0.maximumDelay = .seconds(100)
        }
        for index in 0..<20 { try test.submit("\(index)") }
        for _ in 0..<30 { test.timers.advanceToNext(); test.outbox.drain() }
        #expect(attempts.withLock { $0 } <= 31)
        #expect(test.outbox.count == 20)
        #expect(test.outbox.reports.allSatisfy { $0.attempts == 0 })
        isOnline.withLock { $0 = true }
        test.outbox.sendNow()
        test.outbox.drain()
        #expect(test.outbox.count == 0)
        #expect(test.outbox.counters.delivered == 20)
    }

    @Test func reportsWaitWhileNetworkIsUnavailable() throws {
        let test = try TestOutbox()
        test.outbox.setNetwork(isAvailable: false)
        try test.submit("a")
        test.advance(.seconds(100_000))
        #expect(test.server.receipts.isEmpty)
        test.outbox.setNetwork(isAvailable: true)
        test.outbox.drain()
        #expect(test.server.keys == ["a"])
    }

    @Test func failedReportDoesNotDelayOthers() throws {
        let server = FakeServer { request, _ in
            request.headers["Idempotency-Key"] == "poison" ? .status(.internalServerError) : .status(.ok)
        }
        let test = try TestOutbox(server, sends: false) {
            $0.maximumInFlight = 1
            $0.firstDelay = .seconds(5)
            $0.maximumDelay = .seconds(5)
        }
        try test.submit("poison")
        for index in 0..<5 { try test.submit("\(index)") }
        test.outbox.startSending()
        test.outbox.drain()
        #expect(server.keys == ["poison", "0", "1", "2", "3", "4"])
    }

    @Test(arguments: [-10, 10])
    func clockStepNeitherExpiresNorStrandsReport(_ years: Int) throws {
        let isUp = Locked(false)
        let test = try TestOutbox(FakeServer { _, _ in isUp.withLock { $0 } ? .status(.ok) : .status(.badGateway) })
        try test.submit("a")
        test.timers.stepDate(by: .seconds(years * 365 * 24 * 3600))
        for _ in 0..<10 { test.advance(.seconds(3600)) }
        #expect(test.outbox.count == 1)
        isUp.withLock { $0 = true }
        test.advance(.seconds(3600))
        #expect(test.outbox.counters.delivered == 1)
    }

    @Test(arguments: [-10, 10])
    func clockStepBetweenLaunchesDoesNotExpireReport(_ years: Int) throws {
        let disk = MemoryDirectory()
        let isUp = Locked(false)
        let server = FakeServer { _, _ in
            isUp.withLock { $0 } ? .status(.ok) : .status(.badGateway, ["Retry-After": "500"])
        }
        do {
            let test = try TestOutbox(server, disk: disk)
            try test.submit("a")
            #expect(test.outbox.count == 1)
        }
        let timers = ManualTimers(
            date: ManualTimers.defaultDate.addingTimeInterval(Double(years) * 365 * 24 * 3600))
        let test = try TestOutbox(server, disk: disk) {
            $0.timers = timers
            // Only the age matters here.
            $0.maximumAttempts = 1_000
        }
        timers.advance(by: .seconds(30 * 3600), draining: test.outbox.drain)
        #expect(test.outbox.count == 1)
        isUp.withLock { $0 = true }
        timers.advance(by: .seconds(3600), draining: test.outbox.drain)
        #expect(test.outbox.counters.delivered == 1)
    }

    /// Longer than the longest wait between attempts, but not than a server may ask: no clock is wrong.
    @Test func longWaitOfOneReportIsKeptAcrossLaunches() throws {
        let disk = MemoryDirectory()
        let sent = Locked(0)
        let server = FakeServer { _, _ in
            sent.withLock { $0 += 1 }
            return .status(413, ["Retry-After": "7200"])
        }
        do {
            let test = try TestOutbox(server, disk: disk)
            try test.submit("a")
            #expect(sent.withLock(\.self) == 1)
        }
        let timers = ManualTimers(date: ManualTimers.defaultDate.addingTimeInterval(1))
        let test = try TestOutbox(server, disk: disk) { $0.timers = timers }
        timers.advance(by: .seconds(3_500), draining: test.outbox.drain)
        #expect(sent.withLock(\.self) == 1)
        timers.advance(by: .seconds(200), draining: test.outbox.drain)
        #expect(sent.withLock(\.self) == 2)
    }

    /// A device without a clock of its own starts in 1970: the pause of a server would last for as long as any, at each start.
    @Test func clockThatIsBehindAtLaunchDoesNotShutDestination() throws {
        let disk = MemoryDirectory()
        let isUp = Locked(false)
        let server = FakeServer { _, _ in
            isUp.withLock { $0 } ? .status(.ok) : .status(.serviceUnavailable, ["Retry-After": "600"])
        }
        do {
            let test = try TestOutbox(server, disk: disk)
            try test.submit("a")
            #expect(test.outbox.count == 1)
        }
        isUp.withLock { $0 = true }
        let timers = ManualTimers(date: Date(timeIntervalSince1970: 0))
        let test = try TestOutbox(server, disk: disk) { $0.timers = timers }
        timers.advance(by: .seconds(1), draining: test.outbox.drain)
        #expect(test.outbox.counters.delivered == 1)
    }
}
