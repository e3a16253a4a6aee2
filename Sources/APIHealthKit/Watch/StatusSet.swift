// Watch: the command `watch`. Depends on the folders below the commands, and on Demo for latencies as JSON. Program
// uses it.

import LoaderChain

/// The statuses that a check accepts: `200`, `200,204`, `2xx` or `200-299`.
struct StatusSet: Hashable, Sendable, CustomStringConvertible {
    private let ranges: [ClosedRange<Int>]
    let description: String

    /// Parses a list; nil if one of its parts is invalid.
    init?(_ text: String) {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(part.lowercased()) else { return nil }
            ranges.append(range)
        }
        self.ranges = ranges
        description = text.lowercased()
    }

    static let success = StatusSet(ranges: [200...299], description: "2xx")

    private init(ranges: [ClosedRange<Int>], description: String) {
        self.ranges = ranges
        self.description = description
    }

    func contains(_ status: HTTPStatus) -> Bool { ranges.contains { $0.contains(status.rawValue) } }

    /// Whether a redirect may be expected, and therefore must not be followed.
    var wantsRedirects: Bool { ranges.contains { $0.overlaps(300...399) } }

    private static func range(_ text: String) -> ClosedRange<Int>? {
        if text.count == 3, text.hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue,
            (1...5).contains(hundreds)
        {
            return hundreds * 100...hundreds * 100 + 99
        }
        let bounds = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(status)
        guard let first = bounds[0], let last = bounds[bounds.count - 1], first <= last else { return nil }
        return first...last
    }

    private static func status(_ text: Substring) -> Int? {
        guard text.count == 3, text.utf8.allSatisfy(ASCII.isDigit), let number = Int(text), number >= 100 else {
            return nil
        }
        return number
    }
}
