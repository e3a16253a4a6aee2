import Synchronization

/// The chain's source of chance, which any number of threads may share without waiting for one another.
///
/// A seed determines the sequence, so a test that rolls seeded dice can be run again. When several threads roll the
/// same dice, the sequence is still the seed's, but which thread gets which number is up to their race.
///
/// The dice are for jitter and for sampling, not for secrets.
public final class Dice: Sendable {
    /// Dice that nobody can foresee, the same for the whole program.
    public static let system: Dice = {
        var generator = SystemRandomNumberGenerator()
        return Dice(seed: generator.next())
    }()

    private let counter: Atomic<UInt64>

    /// Dice whose numbers are those of ``SeededGenerator`` with the same seed.
    public init(seed: UInt64) {
        counter = Atomic(seed)
    }

    /// The next number, any of 64 bits.
    public func next() -> UInt64 {
        // Nothing else is published along with the counter, so no order is asked for but its own.
        SplitMix64.mix(counter.wrappingAdd(SplitMix64.step, ordering: .relaxed).newValue)
    }

    /// A number from 0 up to, but not including, 1.
    public func unit() -> Double {
        // As many bits as a double holds exactly, so that no rounding makes a 1.
        Double(next() >> 11) * 0x1p-53
    }

    /// A duration between two bounds, each of which may come up.
    public func duration(in range: ClosedRange<Duration>) -> Duration {
        let lowest = range.lowerBound.attoseconds
        let width = UInt128(truncatingIfNeeded: range.upperBound.attoseconds &- lowest)
        let choices = width == .max ? width : width + 1
        // The roll is a fraction of 2⁶⁴: multiply by it, then divide by 2⁶⁴, in two words as the product needs them.
        let product = choices.multipliedFullWidth(by: UInt128(next()))
        let offset = product.high << 64 | product.low >> 64
        return Duration(attoseconds: lowest &+ Int128(truncatingIfNeeded: offset))
    }

    /// `true` with the given probability: never for 0 or less, always for 1 or more.
    ///
    /// It rolls once whatever the probability, so that a changed setting does not shift the numbers after it.
    public func chance(_ probability: Double) -> Bool {
        unit() < probability
    }
}
