import TestSizes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RandomWalksTests {
    @Test func firstFaultIsReported() {
        var seeds: [UInt64] = []
        let fault = firstFault(seeds: 0..<10 as Range<UInt64>) { seed in
            seeds.append(seed)
            return seed == 5 ? "astray" : seed == 3 ? "" : nil
        }
        #expect(fault == "seed 5: astray")
        #expect(seeds == Array(0...5))
        #expect(firstFault(seeds: 0..<5 as Range<UInt64>) { _ in nil } == nil)
    }

    @Test func groupsShareTenThousandSeeds() {
        var seeds: [UInt64] = []
        for group in 0..<10 as Range<UInt64> {
            takeWalks(group: group) { seed in
                seeds.append(seed)
                return nil
            }
        }
        #expect(seeds == testSample(0..<10_000 as Range<UInt64>))
    }
}
