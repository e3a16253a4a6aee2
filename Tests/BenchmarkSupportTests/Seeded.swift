/// A small generator whose numbers depend on the seed alone.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A number from a normal distribution around zero, as the sum of twelve even ones.
    mutating func normal(deviation: Double) -> Double {
        let sum = (0..<12).reduce(0.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
        return (sum - 6) * deviation
    }
}
