import Testing

@Suite struct RandomWalksTests {
    @Test func theFirstFaultIsTold() {
        var seeds: [UInt64] = []
        withKnownIssue {
            takeWalks { seed in
                seeds.append(seed)
                return seed == 5 ? "a fault" : seed == 3 ? "" : nil
            }
        } matching: { issue in
            issue.comments.map(\.rawValue) == ["seed 5: a fault"]
        }
        #expect(seeds == Array(0...5))
    }

    @Test func groupsShareTenThousandSeeds() {
        var seeds: [UInt64] = []
        for group in 0..<10 as Range<UInt64> {
            takeWalks(group: group) { seed in
                seeds.append(seed)
                return nil
            }
        }
        #expect(seeds == Array(0..<10_000))
    }
}
