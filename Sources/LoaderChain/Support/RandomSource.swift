import Synchronization

/// The chain's source of random numbers, which any number of threads can share without waiting for one another.
///
/// A seed determines the sequence, so that a test with a seeded source can be repeated. When several threads share the
/// source, the sequence is still the seed's, but which thread gets which number depends on their timing.
///
/// The numbers are for jitter and sampling, not for secrets.
public final class RandomSource: Sendable {
    /// A source with a random seed, shared by the whole program.
    public static let system: RandomSource = {
        var generator = SystemRandomNumberGenerator()
        return RandomSource(seed: generator.next())
    }()

    private let counter: Atomic<UInt64>

    /// Makes a source whose seed determines the numbers, on every platform and in every version.
    public init(seed: UInt64) { counter = Atomic(seed) }

    /// The next number, any of 64 bits.
    public func next() -> UInt64 {
        // The counter publishes nothing else, so relaxed ordering is enough.
        SplitMix64.mix(counter.wrappingAdd(SplitMix64.step, ordering: .relaxed).newValue)
    }

    /// A number from 0 up to, but not including, 1.
    public func unit() -> Double {
        // As many bits as a double represents exactly, so that rounding never makes a 1.
        Double(next() >> 11) * 0x1p-53
    }

    /// A duration between two bounds, which are both included.
    public func duration(in range: ClosedRange<Duration>) -> Duration {
        let lowest = range.lowerBound.attoseconds
        let width = UInt128(truncatingIfNeeded: range.upperBound.attoseconds &- lowest)
        let choices = width == .max ? width : width + 1
        // The number is a fraction of 2⁶⁴: multiply by it, then divide by 2⁶⁴; the product needs two words.
        let product = choices.multipliedFullWidth(by: UInt128(next()))
        let offset = product.high << 64 | product.low >> 64
        return Duration(attoseconds: lowest &+ Int128(truncatingIfNeeded: offset))
    }

    /// Returns true with the given probability: never for 0 or less, always for 1 or more.
    ///
    /// A call takes one number whatever the probability, so that a changed setting does not shift the numbers that follow.
    public func chance(_ probability: Double) -> Bool {
        unit() < probability
    }
}

/// A random number generator whose seed determines the numbers, on every platform and in every version.
///
/// SplitMix64 is small, fast, good enough for shuffling and jitter, and not suitable for secrets.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= SplitMix64.step
        return SplitMix64.mix(state)
    }
}

/// The two halves of SplitMix64: the step of a counter, and a function that mixes the counter's bits.
enum SplitMix64 {
    /// 2⁶⁴ divided by the golden ratio, made odd: the counter visits every number, and neighbours lie far apart.
    static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Mixes the counter: each of its bits affects about half of the bits of the result.
    static func mix(_ counter: UInt64) -> UInt64 {
        var mixed = counter
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
