/// Compares this run with an earlier one: which rows became slower or faster beyond the noise of both runs.
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
        /// The largest change that counts as noise.
        let noise: Double
        let verdict: Verdict
    }

    /// The smallest change that is ever flagged: memory layout alone changes the time of a loop that much.
    static let smallestChange = 0.05
    /// The width of the noise band in spreads of both runs taken together, a little under three standard deviations of
    /// single samples if those are normally distributed.
    static let bandWidth = 3.0

    let lines: [Line]
    /// The rows of the earlier run that this one does not have.
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
