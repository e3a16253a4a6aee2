/// The number of repairs by problem, and of points that were left out.
///
/// ```swift
/// var encoder = LineEncoder()
/// encoder.append(Point("queue", tags: ["host": ""], fields: ["length": 3]))
/// print(encoder.repairs[.emptyTagValue])  // 1
/// ```
public struct Repairs: Sendable, Hashable {
    private var counts = Array(repeating: 0, count: LineProblem.allCases.count)

    /// The number of points that were left out because none of their fields could be encoded.
    public internal(set) var droppedPoints = 0

    /// No repairs.
    public init() {}

    /// How often a problem was met.
    public internal(set) subscript(problem: LineProblem) -> Int {
        get { counts[problem.index] }
        set { counts[problem.index] = newValue }
    }

    /// How many problems were met in all.
    public var total: Int { counts.reduce(0, +) }

    /// Whether nothing was repaired and nothing left out.
    public var isEmpty: Bool { droppedPoints == 0 && counts.allSatisfy { $0 == 0 } }

    /// Adds the counts of others.
    public static func += (repairs: inout Repairs, others: Repairs) {
        for index in repairs.counts.indices { repairs.counts[index] += others.counts[index] }
        repairs.droppedPoints += others.droppedPoints
    }
}

extension Repairs: CustomStringConvertible {
    /// The counts above zero, such as `emptyTagValue: 1, dropped points: 2`.
    public var description: String {
        var parts = LineProblem.allCases.filter { self[$0] > 0 }.map { "\($0.rawValue): \(self[$0])" }
        if droppedPoints > 0 { parts.append("dropped points: \(droppedPoints)") }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
