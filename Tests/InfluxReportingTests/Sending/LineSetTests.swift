import LoaderChain
import Testing

@testable import InfluxReporting

/// Sets of lines compared with sets of numbers.
@Suite(.timeLimit(.minutes(10))) struct LineSetTests {
    @Test(arguments: 0..<20 as Range<UInt64>) func operationsMatchSetOfNumbers(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let first = numbers(&generator)
            let second = numbers(&generator)
            let (left, right) = (LineSet(first), LineSet(second))
            expectSame(left, first)
            expectSame(left.union(right), first.union(second))
            expectSame(left.subtracting(right), first.subtracting(second))
            expectSame(left.intersection(right), first.intersection(second))
            expectSame(left.moved(by: 7), Set(first.map { $0 + 7 }))
            let places = first.sorted().enumerated().filter { second.contains($0.element) }.map(\.offset)
            expectSame(left.places(of: right), Set(places))
            #expect((0..<41).allSatisfy { left.contains($0) == first.contains($0) })
            let count = Int.random(in: -1...41, using: &generator)
            let (head, tail) = left.split(after: count)
            expectSame(head, Set(first.sorted().prefix(max(0, count))))
            expectSame(tail, Set(first.sorted().dropFirst(max(0, count))))
            let place = Int.random(in: -1...41, using: &generator)
            #expect(left.line(at: place) == (first.sorted().indices.contains(place) ? first.sorted()[place] : nil))
        }
    }

    private func numbers(_ generator: inout SeededGenerator) -> Set<Int> {
        let density = Int.random(in: 1...4, using: &generator)
        return Set((0..<40).filter { _ in Int.random(in: 0..<4, using: &generator) < density })
    }

    private func expectSame(_ set: LineSet, _ numbers: Set<Int>) {
        #expect(Array(set.lines) == numbers.sorted())
        #expect(set.count == numbers.count)
        #expect(set.isEmpty == numbers.isEmpty)
        #expect(set.first == numbers.min())
        #expect(set.ranges.allSatisfy { !$0.isEmpty })
        #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
    }
}
