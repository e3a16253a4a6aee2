import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// Reports that wait for a network that costs nothing.
@Suite(.timeLimit(.minutes(10))) struct NetworkTests {
    private func box(_ change: @escaping (inout OutboxSettings) -> Void = { _ in }) throws -> TestBox {
        try TestBox {
            $0.leastPriorityWhenMetered = .normal
            $0.leastPriorityWhenConstrained = .high
            $0.maximumInFlight = 1
            change(&$0)
        }
    }

    private func submitAll(to test: TestBox) throws {
        for (id, priority) in [("l", ReportPriority.low), ("n", .normal), ("h", .high)] {
            try test.box.submit(bytes(10), identifier: id, request: upload, priority: priority)
        }
        test.box.drain()
    }

    @Test(
        arguments: [
            ([], ["h", "l", "n"]), (.metered, ["h", "n"]), (.constrained, ["h"]), ([.metered, .constrained], ["h"]),
        ] as [(NetworkConditions, [String])])
    func whatMattersLessWaitsForABetterNetwork(_ conditions: NetworkConditions, _ sent: [String]) throws {
        let test = try box()
        test.box.networkIsAvailable(true, conditions: conditions)
        try submitAll(to: test)
        test.advance(.seconds(100_000))
        #expect(test.server.keys.sorted() == sent)
        // It waits, and no timer runs for it.
        #expect(!test.timers.advanceToNext())
        test.box.networkIsAvailable(true)
        test.box.drain()
        #expect(test.server.keys.sorted() == ["h", "l", "n"] && test.box.counters.retries == 0)
    }

    @Test func aTerminalIsToldWhichNetworksItMayUse() throws {
        let test = try box()
        try submitAll(to: test)
        let access = Dictionary(
            uniqueKeysWithValues: zip(test.server.keys, test.server.requests.map(\.networkAccess)))
        #expect(access == ["l": [], "n": [.cellular, .expensive], "h": .all])
        let usual = try TestBox()
        try usual.submit("a")
        #expect(usual.server.requests.map(\.networkAccess) == [.all])
    }

    /// Of a server that refuses everything, the report that has been due the longest is the probe; one that has to wait for another
    /// network must not keep it from its turn.
    @Test func whatWaitsForAnotherNetworkIsNoProbe() throws {
        let test = try TestBox(FakeServer(first: [.status(.notFound), .status(.notFound)])) {
            $0.leastPriorityWhenMetered = .high
            $0.refusalsBeforePause = 1
            $0.maximumInFlight = 1
        }
        test.box.networkIsAvailable(true, conditions: .metered)
        try test.box.submit(bytes(10), identifier: "l", request: upload, priority: .low)
        try test.box.submit(bytes(10), identifier: "h", request: upload, priority: .high)
        test.box.drain()
        for _ in 0..<3 { test.advance(.seconds(4_000)) }
        #expect(test.server.keys == ["h", "h", "h"])
        test.box.networkIsAvailable(true)
        test.box.drain()
        #expect(test.server.keys == ["h", "h", "h", "l"])
    }
}
