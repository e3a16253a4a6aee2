import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct DurationNanosecondsTests {
    /// The definition, with the whole of the numbers.
    private func expected(_ attoseconds: Int128) -> Int128 {
        let (nanoseconds, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return fraction > 0 ? nanoseconds + 1 : nanoseconds
    }

    @Test func durationsAreRoundedUpToNanoseconds() {
        var random = SeededGenerator(seed: 12)
        var numbers: [Int128] = [0, .max, .min]
        for exponent in 0..<127 {
            let power = Int128(1) << exponent
            numbers += [power - 1, power, power + 1]
            numbers += (0..<20).map { _ in Int128.random(in: 0..<power, using: &random) }
        }
        for nanoseconds in [1, 999_999_999, 1_000_000_000, 4_722_366_482_869, 4_722_366_482_870] as [Int128] {
            numbers += (-1...1).map { nanoseconds * 1_000_000_000 + $0 }
        }
        for number in numbers + numbers.map({ $0 == .min ? .min : -$0 }) {
            // The largest must not overflow.
            guard Duration(attoseconds: number).wholeNanoseconds != expected(number) else { continue }
            Issue.record("\(number) attoseconds")
        }
    }
}
