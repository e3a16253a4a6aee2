import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct CalibrationTests {
    @Test(arguments: [0.3, 7, 450, 12_345, 3_000_000])
    func iterationsFillTheSample(cost: Double) {
        let target = 20e6
        let iterations = Calibration.iterations(filling: target) { Double($0) * cost }
        #expect(abs(Double(iterations) * cost - target) <= max(cost, target * 0.01))
    }

    @Test func slowOperationGetsSingleIteration() {
        #expect(Calibration.iterations(filling: 20e6) { Double($0) * 1e9 } == 1)
    }

    @Test func instantOperationGetsMostIterations() {
        #expect(Calibration.iterations(filling: 20e6) { _ in 0 } == Calibration.mostIterations)
    }

    @Test func expensiveStartDoesNotDistortIterations() {
        let start = 300_000.0
        let iterations = Calibration.iterations(filling: 20e6) { start + Double($0) * 10 }
        #expect((1_900_000...2_100_000).contains(iterations))
    }
}
