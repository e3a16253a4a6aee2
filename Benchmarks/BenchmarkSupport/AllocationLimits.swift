/// The contents of the limits file: how many allocations an operation may make, by benchmark.
///
/// Each line is a name and a number, or the word `varies` if the count depends on what other threads do. A `#` begins a comment.
struct AllocationLimits: Equatable {
    struct Mistake: Error, Equatable {
        let line: Int
        let text: String
    }

    private static let varying = "varies"

    /// The limits in the order of the file; nil stands for `varies`.
    private(set) var limits: [(name: String, most: Double?)] = []

    init(parsing text: String) throws(Mistake) {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            if words.isEmpty { continue }
            let most = words.count == 2 ? Double(words[1]) : nil
            guard words.count == 2, words[1] == Self.varying || most.map({ $0.isFinite && $0 >= 0 }) == true else {
                throw Mistake(line: index + 1, text: "expected a name and a number, such as: floor/allocation 1")
            }
            let name = String(words[0])
            guard !limits.contains(where: { $0.name == name }) else {
                throw Mistake(line: index + 1, text: "\(name) has a limit already")
            }
            limits.append((name, most))
        }
    }

    static func == (left: AllocationLimits, right: AllocationLimits) -> Bool {
        left.limits.elementsEqual(right.limits, by: ==)
    }

    /// Checks the measured allocations, and returns a sentence for each limit that does not hold; limits whose benchmark was not selected
    /// are skipped.
    ///
    /// A benchmark without a limit is a failure, so that none is forgotten, unless it is a peer, whose allocations we do not limit. A limit
    /// of no benchmark of `names`, which has all of them, is a failure too, since it guards nothing.
    func check(_ rows: [Report.Row], among names: [String]) -> (checked: Int, failures: [String]) {
        var checked = 0
        var failures: [String] = []
        for (name, most) in limits {
            guard names.contains(name) else {
                failures.append("\(name) has a limit, but there is no such benchmark.")
                continue
            }
            guard let most, let found = rows.first(where: { $0.name == name })?.allocsPerOp else { continue }
            checked += 1
            if found > most {
                failures.append(
                    "\(name) makes \(Numbers.short(found)) allocations, \(Numbers.short(most)) are allowed.")
            }
        }
        for row in rows where !row.name.hasPrefix("peer/") && !limits.contains(where: { $0.name == row.name }) {
            let found = row.allocsPerOp.map(Numbers.short) ?? "any number of"
            failures.append(
                "\(row.name) makes \(found) allocations and has no limit; write one, or \(row.name) \(Self.varying).")
        }
        return (checked, failures)
    }
}
