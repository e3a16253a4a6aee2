import LoaderChain
import Testing

@Suite(.timeLimit(.minutes(10))) struct RandomSourceTests {
    private static let knownAnswers: [UInt64] = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]

    @Test func generatorMatchesKnownValuesForSeed0() {
        var generator = SeededGenerator(seed: 0)
        #expect((0..<3).map { _ in generator.next() } == Self.knownAnswers)
    }

    @Test func randomSourceMatchesKnownValuesForSeed0() {
        let random = RandomSource(seed: 0)
        #expect((0..<3).map { _ in random.next() } == Self.knownAnswers)
    }

    @Test func threadsShareOneSequenceWithoutLossOrDuplicate() async {
        let random = RandomSource(seed: 7)
        let rolled = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 { group.addTask { (0..<1_000).map { _ in random.next() } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var generator = SeededGenerator(seed: 7)
        #expect(rolled.sorted() == (0..<8_000).map { _ in generator.next() }.sorted())
    }

    @Test func unitsStayWithinBoundsAndFillThem() {
        let random = RandomSource(seed: 11)
        let units = (0..<100_000).map { _ in random.unit() }
        #expect(units.allSatisfy { (0..<1).contains($0) })
        #expect(abs(units.reduce(0, +) / 100_000 - 0.5) < 0.01)
        #expect((units.min() ?? 1) < 0.001 && (units.max() ?? 0) > 0.999)
    }

    @Test func durationsStayWithinBoundsAndFillThem() {
        let random = RandomSource(seed: 13)
        let bounds = Duration.milliseconds(-100)...Duration.milliseconds(300)
        let durations = (0..<10_000).map { _ in random.duration(in: bounds) }
        #expect(durations.allSatisfy(bounds.contains))
        let average = durations.reduce(.zero, +) / 10_000
        #expect((Duration.milliseconds(95)...Duration.milliseconds(105)).contains(average))
    }

    @Test func durationIncludesBothBounds() {
        let random = RandomSource(seed: 17)
        let (one, two) = (Duration(attoseconds: 1), Duration(attoseconds: 2))
        #expect(Set((0..<100).map { _ in random.duration(in: one...two) }) == [one, two])
        #expect(random.duration(in: one...one) == one)
    }

    @Test func widestDurationRangeDoesNotOverflow() {
        let random = RandomSource(seed: 19)
        let widest = Duration(attoseconds: .min)...Duration(attoseconds: .max)
        let isNegative = (0..<1_000).map { _ in random.duration(in: widest) < .zero }
        #expect(isNegative.contains(true) && isNegative.contains(false))
    }

    @Test func chanceMatchesProbability() {
        let random = RandomSource(seed: 23)
        func hits(_ probability: Double) -> Int { (0..<10_000).count { _ in random.chance(probability) } }
        #expect(hits(0) == 0 && hits(-1) == 0 && hits(.nan) == 0)
        #expect(hits(1) == 10_000 && hits(2) == 10_000)
        #expect((2_300...2_700).contains(hits(0.25)))
    }

    @Test func chanceConsumesOneNumberForAnyProbability() {
        let (left, right) = (RandomSource(seed: 29), RandomSource(seed: 29))
        for probability in [0, 0.5, 1] {
            _ = left.chance(probability)
            _ = right.next()
        }
        #expect(left.next() == right.next())
    }

    @Test func systemSourceGivesDistinctNumbers() {
        #expect(Set((0..<100).map { _ in RandomSource.system.next() }).count == 100)
    }
}
