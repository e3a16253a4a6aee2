import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// A server that refuses one report means the report; one that refuses everything means itself.
@Suite(.timeLimit(.minutes(10)))
struct RefusalTests {
    @Test(arguments: [HTTPStatus.notFound, .forbidden, .gone, .badRequest])
    func aBriefRefusalCostsNoBacklog(_ status: HTTPStatus) throws {
        let answers = Locked(0)
        let server = FakeServer { _, _ in
            answers.withLock { count in
                count += 1
                return .status(count <= 20 ? status : .ok)
            }
        }
        let test = try TestBox(server, sends: false)
        for index in 0..<1_000 { try test.submit("\(index)") }
        test.box.startSending()
        test.box.drain()
        while test.box.count > 0, test.timers.advanceToNext() { test.box.drain() }
        #expect(test.box.counters.dropped == [:])
        #expect(test.box.reportsSetAside.count <= 2)
        #expect(test.box.counters.delivered + test.box.reportsSetAside.count == 1_000)
    }

    @Test func aTypoInAnAddressDeletesNothingEver() throws {
        let test = try TestBox(FakeServer { _, _ in .status(.notFound) }, sends: false)
        for index in 0..<300 { try test.submit("\(index)") }
        test.box.startSending()
        test.box.drain()
        var probes: [Int] = []
        while test.timers.now < TimerInstant(nanoseconds: 0).advanced(by: .seconds(60 * 24 * 3600)),
            test.box.count > 0, test.timers.advanceToNext()
        {
            let before = test.server.receipts.count
            test.box.drain()
            probes.append(test.server.receipts.count - before)
        }
        #expect(test.box.counters.dropped == [:])
        #expect(test.box.count + test.box.reportsSetAside.count == 300)
        // One is tried at a time, and not all of them again and again.
        #expect(probes.allSatisfy { $0 <= 1 })
        #expect(test.server.receipts.count < 6_000)
    }

    @Test func aPauseHoldsForItsServerAloneAndForTheNextLaunch() throws {
        let server = FakeServer { request, _ in .status(request.host == "bad.example" ? .notFound : .ok) }
        let bad = HTTPRequest(method: .put, host: "bad.example", path: "/")
        let test = try TestBox(server, sends: false) { $0.firstDelay = .seconds(1_000) }
        for index in 0..<10 { try test.submit("bad-\(index)", to: bad) }
        for index in 0..<10 { try test.submit("good-\(index)") }
        test.box.startSending()
        test.box.drain()
        #expect(test.box.counters.delivered == 10)
        let tried = server.requests.count { $0.host == "bad.example" }
        #expect(tried <= 6)
        test.box.abandon()
        let next = try TestBox(server, disk: test.disk)
        #expect(server.requests.count { $0.host == "bad.example" } == tried)
        #expect(next.box.count == 8)
    }

    @Test(arguments: ["Retry-After", "X-Sentry-Rate-Limits"])
    func aShortWaitThatIsAskedForKeepsNoPauseFromGrowing(_ header: String) throws {
        let test = try TestBox(FakeServer { _, _ in .status(.notFound, [header: "1"]) }) { $0.refusalsBeforePause = 1 }
        try test.submit("a")
        let times = test.attemptTimes(atMost: 50)
        let last = try #require(times.last)
        #expect(times.count > 20 && last > 3_600)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 0.999 })
    }

    @Test func onesThatAreBadThemselvesAreSetAsideAmongGoodOnes() throws {
        let server = FakeServer { request, _ in
            .status(request.headers["Idempotency-Key"]?.hasPrefix("bad") == true ? .badRequest : .ok)
        }
        let test = try TestBox(server, sends: false)
        for index in 0..<40 { try test.submit(index % 4 < 3 ? "bad-\(index)" : "good-\(index)") }
        test.box.startSending()
        test.box.drain()
        while test.box.count > 0, test.timers.advanceToNext() { test.box.drain() }
        #expect(test.box.counters.delivered == 10)
        #expect(test.box.reportsSetAside.count == 30)
    }

    @Test func aBadOneThatMattersMoreKeepsNoOtherFromBeingTaken() throws {
        let server = FakeServer { request, _ in
            .status(request.headers["Idempotency-Key"]?.hasPrefix("crash") == true ? .badRequest : .ok)
        }
        let test = try TestBox(server, sends: false) { $0.maximumInFlight = 1 }
        try test.submit("log")
        for id in ["crash-1", "crash-2", "crash-3"] {
            try test.box.submit(bytes(10), identifier: id, request: upload, priority: .high)
        }
        test.box.startSending()
        test.box.drain()
        #expect(server.keys == ["crash-1", "crash-2", "crash-3"])
        // The first probe after the pause.
        #expect(test.timers.advanceToNext())
        test.box.drain()
        #expect(server.keys.dropFirst(3).first == "log")
        #expect(test.box.counters.delivered == 1)
    }

    @Test func whatIsSetAsideMayBeAsLargeAsTheBox() throws {
        let settings = OutboxSettings()
        #expect(settings.maximumSetAsideCount >= settings.maximumCount)
        #expect(settings.maximumSetAsideBytes >= settings.maximumBytes)
    }
}
