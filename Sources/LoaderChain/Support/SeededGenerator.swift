/// A random number generator whose seed determines the numbers, on every platform and in every version.
///
/// It is SplitMix64: small, fast, good enough for shuffling and jitter, and not suitable for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator with a seed.
    public init(seed: UInt64) { state = seed }

    /// The next number.
    public mutating func next() -> UInt64 {
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
