/// Random numbers that a seed determines: the same seed, the same numbers, on every platform and in every version.
///
/// It is the generator SplitMix64: small, quick, good enough to shuffle and to jitter, and no use for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts the numbers of `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= SplitMix64.step
        return SplitMix64.mix(state)
    }
}

/// The two halves of SplitMix64: a counter that goes in steps, and a function that scatters the counter.
enum SplitMix64 {
    /// 2⁶⁴ divided by the golden ratio, made odd: the counter visits every number, and neighbours lie far apart.
    static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Scatters the counter: each of its bits sways about half of the result's.
    static func mix(_ counter: UInt64) -> UInt64 {
        var mixed = counter
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
