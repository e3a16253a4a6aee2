import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct RouteCensusTests {
    private static func key(_ number: Int) -> ReportModel.Key {
        ReportModel.Key(host: "a", route: "/\(number)", method: "GET")
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func fullCensusKeepsFailingRoutes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...20, using: &generator)
        var census = RouteCensus(limit: limit)
        var seen: Set<ReportModel.Key> = []
        var failures: [ReportModel.Key: Int] = [:]
        for _ in 0..<500 {
            let key = Self.key(Int.random(in: 0..<60, using: &generator))
            // No more routes fail than there is room for.
            let mayFail = failures[key] != nil || failures.count < limit
            let fails = mayFail && Int.random(in: 0..<8, using: &generator) == 0
            if fails { failures[key, default: 0] += 1 }
            seen.insert(key)
            census.note(key, fails ? .serverError : .success)
        }
        #expect(census.count == min(seen.count, limit))
        #expect(census.isIncomplete == (seen.count > limit))
        // As many of the busiest have a place as of those that fail.
        #expect(census.mostImportant(2 * failures.count).isSuperset(of: failures.keys))
        let most = failures.values.max() ?? 0
        let first = census.mostImportant(1)
        #expect(first.count == 1)
        #expect(first.allSatisfy { failures[$0, default: 0] == most })
    }

    @Test func busiestRoutesAreChosenDespiteManyFailures() {
        var census = RouteCensus(limit: 3_000)
        for number in 0..<2_000 {
            census.note(Self.key(number), .clientError)
            for busy in 0..<3 { census.note(Self.key(-1 - busy), .success) }
        }
        let chosen = census.mostImportant(200)
        #expect(chosen.count == 200)
        #expect(chosen.isSuperset(of: (0..<3).map { Self.key(-1 - $0) }))
    }

    @Test func censusIsBoundedIfEveryRouteFails() {
        var census = RouteCensus(limit: 3)
        for number in 0..<3 { census.note(Self.key(number), .failed) }
        #expect(!census.isIncomplete)
        for number in 0..<9 { census.note(Self.key(number), .failed) }
        #expect(census.isIncomplete)
        #expect(census.mostImportant(9) == [Self.key(0), Self.key(1), Self.key(2)])
    }
}
