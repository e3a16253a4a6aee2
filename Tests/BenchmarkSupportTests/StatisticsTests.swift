import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct StatisticsTests {
    @Test func medianIsDefinedForOddEvenAndNoValues() {
        #expect(Statistics.median([3, 1, 2]) == 2)
        #expect(Statistics.median([4, 1, 2, 3]) == 2.5)
        #expect(Statistics.median([]) == 0)
    }

    @Test func outlierChangesNeitherMedianNorSpread() {
        let calm = [100.0, 101, 99, 102, 98]
        let disturbed = [100.0, 101, 99, 5000, 98]
        #expect(Statistics.median(disturbed) == Statistics.median(calm))
        #expect(Statistics.spread(disturbed) == Statistics.spread(calm))
        #expect(Statistics.spread(calm) == 0.01)
    }

    @Test func spreadIsZeroForZerosAndPositiveForNegatives() {
        #expect(Statistics.spread([0, 0, 0]) == 0)
        #expect(Statistics.spread([-100, -101, -99]) == 0.01)
    }

    @Test func ratioIsComputedFromPairedSamples() {
        // The machine becomes four times slower in the middle, which affects both samples of a pair.
        #expect(Statistics.ratio([10, 40, 40], to: [20, 80, 80]) == 0.5)
        #expect(Statistics.ratio([10, 12, 8], to: [10, 10, 10]) == 1)
        #expect(Statistics.ratio([10], to: [0]) == nil)
        #expect(Statistics.ratio([], to: []) == nil)
    }

    @Test func roundedKeepsGivenPlaces() {
        #expect(Statistics.rounded(1.23456, places: 3) == 1.235)
        #expect(Statistics.rounded(2.0004, places: 3) == 2)
    }
}
