import LoaderChainPlatformC

/// How numbers become positions along an axis.
package enum PlotScale: Sendable {
    /// Equal differences have equal lengths.
    case linear
    /// Equal ratios have equal lengths; for numbers above zero.
    case logarithmic
    /// The logarithm of one more than the number, so that zero has a position.
    case logarithmicFromZero

    /// Whether a number has a position.
    func canShow(_ value: Double) -> Bool {
        switch self {
        case .linear: value.isFinite
        case .logarithmic: value.isFinite && value > 0
        case .logarithmicFromZero: value.isFinite && value >= 0
        }
    }

    /// The position of a number between the two ends, from 0 to 1.
    func place(of value: Double, from lowest: Double, to highest: Double) -> Double {
        let length = measure(highest) - measure(lowest)
        guard length > 0 else { return 0 }
        return min(max(0, (measure(value) - measure(lowest)) / length), 1)
    }

    /// Round numbers that cover the range from the lowest to the highest.
    func ticks(from lowest: Double, to highest: Double) -> [Double] {
        switch self {
        case .linear: Self.steps(from: lowest, to: max(highest, lowest))
        case .logarithmic: Self.decades(from: max(lowest, .leastNormalMagnitude), to: highest)
        case .logarithmicFromZero: [0] + Self.decades(from: 1, to: max(highest, 1))
        }
    }

    private func measure(_ value: Double) -> Double {
        switch self {
        case .linear: value
        case .logarithmic: log10(value)
        case .logarithmicFromZero: log10(value + 1)
        }
    }

    /// About five steps of 1, 2 or 5 times a power of ten.
    private static func steps(from lowest: Double, to highest: Double) -> [Double] {
        let span = highest > lowest ? highest - lowest : 1
        let magnitude = power(of: 10, Int(log10(span / 5).rounded(.down)))
        let step = [1, 2, 5, 10].map { $0 * magnitude }.first { span / $0 <= 6 } ?? span
        let first = Int((lowest / step).rounded(.down))
        let last = Int(((lowest + span) / step).rounded(.up))
        return (first...max(first + 1, last)).map { Double($0) * step }
    }

    private static func decades(from lowest: Double, to highest: Double) -> [Double] {
        let first = Int(log10(lowest).rounded(.down))
        let last = Int(log10(max(highest, lowest)).rounded(.up))
        return (first...max(first + 1, last)).map { power(of: 10, $0) }
    }

    private static func power(of base: Double, _ exponent: Int) -> Double {
        let positive = (0..<abs(exponent)).reduce(1.0) { product, _ in product * base }
        return exponent < 0 ? 1 / positive : positive
    }
}
