/// A document with parts that are generated from results.
///
/// A part is what stands between two comments:
///
/// ```
/// <!-- made: results throttle/ peer/article -->
/// <!-- end -->
/// ```
struct MarkdownDocument {
    enum Part: String, CaseIterable {
        /// The machine and the date.
        case machine
        /// A table of the benchmarks whose names begin with one of the words that follow, in that order.
        case results
        /// A table of all limits.
        case limits
        /// The result of a fleet, and how its cost grows.
        case fleet
        case growth
        /// How the limits did, in all, in each trial, and where ours is beaten.
        case limitSum
        case limitTrials
        case limitDefeats
    }

    /// An error in the comments of a document.
    struct Mistake: Error, Equatable {
        let line: Int
        let text: String
    }

    private static let opening = "<!-- made:"
    private static let closing = "<!-- end -->"

    let text: String

    /// The document with its parts generated again; parts for which `make` returns nil stay unchanged.
    func refreshed(_ make: (Part, _ words: [String]) -> [String]?) throws(Mistake) -> String {
        var result: [String] = []
        /// The current part, which is either replaced or kept.
        var open: (line: Int, isMade: Bool)?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = String(line)
            if line.hasPrefix(Self.opening) {
                guard open == nil else { throw Mistake(line: index + 1, text: "the part before this one has no end") }
                let (part, words) = try Self.part(line, index + 1)
                let made = make(part, words)
                open = (index + 1, made != nil)
                result += [line] + (made.map { [""] + $0 + [""] } ?? [])
            } else if line == Self.closing {
                guard open != nil else { throw Mistake(line: index + 1, text: "this ends no part") }
                open = nil
                result.append(line)
            } else if open?.isMade != true {
                result.append(line)
            }
        }
        if let open { throw Mistake(line: open.line, text: "this part has no end") }
        return result.joined(separator: "\n")
    }

    private static func part(_ line: String, _ number: Int) throws(Mistake) -> (Part, [String]) {
        let words = line.dropFirst(opening.count).split(separator: " ").map(String.init)
        guard words.last == "-->", let first = words.first, let part = Part(rawValue: first) else {
            let known = Part.allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(line: number, text: "no such part; there are \(known)")
        }
        return (part, Array(words.dropFirst().dropLast()))
    }
}
