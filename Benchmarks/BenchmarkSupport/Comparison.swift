/// An earlier run beside this one: what became slower or faster, beyond what the noise of both runs explains.
struct Comparison {
    enum Verdict: String {
        case slower, faster, same
        /// The earlier run does not have it.
        case new
    }

    struct Line {
        let before: Report.Row?
        let after: Report.Row
        /// The change of the time as a share of the time before.
        let change: Double
        /// A change no larger than this is noise.
        let noise: Double
        let verdict: Verdict
    }

    /// A change below this is never flagged: memory layout alone moves a loop that much.
    static let smallestChange = 0.05
    /// The noise band is this many of the two spreads taken together, a little under three standard deviations of
    /// single samples where those are normally distributed.
    static let bandWidth = 3.0

    let lines: [Line]
    /// What the earlier run had and this one has not.
    let missing: [String]

    init(before: Report, after: Report) {
        lines = after.results.map { row in
            Line(before: before.results.first { $0.name == row.name }, after: row)
        }
        let names = Set(after.results.map(\.name))
        missing = before.results.map(\.name).filter { !names.contains($0) }
    }

    var slower: [Line] { lines.filter { $0.verdict == .slower } }
}

extension Comparison.Line {
    init(before: Report.Row?, after: Report.Row) {
        self.before = before
        self.after = after
        guard let before, before.nsPerOp > 0 else {
            (change, noise, verdict) = (0, 0, .new)
            return
        }
        let change = after.nsPerOp / before.nsPerOp - 1
        let spread = (before.spread * before.spread + after.spread * after.spread).squareRoot()
        let noise = max(Comparison.smallestChange, Comparison.bandWidth * spread)
        self.change = change
        self.noise = noise
        verdict = change > noise ? .slower : change < -noise ? .faster : .same
    }
}
