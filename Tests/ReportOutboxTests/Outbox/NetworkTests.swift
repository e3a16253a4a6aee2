import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// Reports that wait for an unmetered network.
@Suite(.timeLimit(.minutes(10))) struct NetworkTests {
    private func outbox(_ change: @escaping (inout OutboxSettings) -> Void = { _ in }) throws -> TestOutbox {
        try TestOutbox {
            $0.leastPriorityWhenMetered = .normal
            $0.leastPriorityWhenConstrained = .high
            $0.maximumInFlight = 1
            change(&$0)
        }
    }

    private func submitAll(to test: TestOutbox) throws {
        for (id, priority) in [("l", ReportPriority.low), ("n", .normal), ("h", .high)] {
            try test.outbox.submit(bytes(10), identifier: id, request: upload, priority: priority)
        }
        test.outbox.drain()
    }

    @Test(
        arguments: [
            ([], ["h", "l", "n"]), (.metered, ["h", "n"]), (.constrained, ["h"]), ([.metered, .constrained], ["h"]),
        ] as [(NetworkConditions, [String])])
    func lowerPrioritiesWaitForBetterNetwork(_ conditions: NetworkConditions, _ sent: [String]) throws {
        let test = try outbox()
        test.outbox.setNetwork(isAvailable: true, conditions: conditions)
        try submitAll(to: test)
        test.advance(.seconds(100_000))
        #expect(test.server.keys.sorted() == sent)
        // It waits, and no timer runs for it.
        #expect(!test.timers.advanceToNext())
        test.outbox.setNetwork(isAvailable: true)
        test.outbox.drain()
        #expect(test.server.keys.sorted() == ["h", "l", "n"] && test.outbox.counters.retries == 0)
    }

    @Test func networkAccessOfRequestFollowsPriority() throws {
        let test = try outbox()
        try submitAll(to: test)
        let access = Dictionary(
            uniqueKeysWithValues: zip(test.server.keys, test.server.requests.map(\.networkAccess)))
        #expect(access == ["l": [], "n": [.cellular, .expensive], "h": .all])
        let usual = try TestOutbox()
        try usual.submit("a")
        #expect(usual.server.requests.map(\.networkAccess) == [.all])
    }

    /// A server that rejects everything is probed with the report that has been due the longest; a report that has to wait for
    /// another network must not block it.
    @Test func reportWaitingForNetworkIsNotUsedAsProbe() throws {
        let test = try TestOutbox(FakeServer(first: [.status(.notFound), .status(.notFound)])) {
            $0.leastPriorityWhenMetered = .high
            $0.refusalsBeforePause = 1
            $0.maximumInFlight = 1
        }
        test.outbox.setNetwork(isAvailable: true, conditions: .metered)
        try test.outbox.submit(bytes(10), identifier: "l", request: upload, priority: .low)
        try test.outbox.submit(bytes(10), identifier: "h", request: upload, priority: .high)
        test.outbox.drain()
        for _ in 0..<3 { test.advance(.seconds(4_000)) }
        #expect(test.server.keys == ["h", "h", "h"])
        test.outbox.setNetwork(isAvailable: true)
        test.outbox.drain()
        #expect(test.server.keys == ["h", "h", "h", "l"])
    }

    /// Otherwise a network that is gone for a moment would have everything sent twice.
    @Test func attemptUnderWayContinuesWithoutNetwork() throws {
        let test = try TestOutbox(FakeServer(first: [.silence]))
        try test.submit("a")
        for isAvailable in [false, true] {
            test.outbox.setNetwork(isAvailable: isAvailable)
            test.outbox.drain()
            #expect(test.outbox.reports.map(\.isBeingSent) == [true] && test.server.keys == ["a"])
        }
    }

    @Test func reportThatWasNotSentGoesAtOnceWhenNetworkReturns() throws {
        let test = try TestOutbox(FakeServer(first: [.failure(.cannotConnect)]))
        try test.submit("a")
        #expect(test.server.keys == [] && test.outbox.count == 1)
        for isAvailable in [false, true] { test.outbox.setNetwork(isAvailable: isAvailable) }
        test.outbox.drain()
        #expect(test.server.keys == ["a"] && test.outbox.count == 0)
    }
}
