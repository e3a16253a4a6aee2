import LoaderChain

extension SeededGenerator {
    /// A number from a normal distribution around zero, as the sum of twelve uniform ones.
    mutating func normal(deviation: Double) -> Double {
        let sum = (0..<12).reduce(0.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
        return (sum - 6) * deviation
    }
}
