/// How many allocations an operation may make, by benchmark: the contents of the limits file.
///
/// Each line is a name and a number. A `#` begins a comment.
struct AllocationLimits: Equatable {
    struct Mistake: Error, Equatable {
        let line: Int
        let text: String
    }

    private(set) var limits: [(name: String, most: Double)] = []

    init(parsing text: String) throws(Mistake) {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            if words.isEmpty { continue }
            guard words.count == 2, let most = Double(words[1]), most.isFinite, most >= 0 else {
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

    /// Checks what was measured; a limit whose benchmark was not selected is passed over.
    ///
    /// - Parameters:
    ///   - rows: What was measured.
    ///   - names: Every benchmark there is. A limit for any other name guards nothing, and so is an excess too.
    /// - Returns: One sentence for each limit that does not hold, and how many were checked.
    func check(_ rows: [Report.Row], among names: [String]) -> (checked: Int, failures: [String]) {
        var checked = 0
        var failures: [String] = []
        for (name, most) in limits {
            guard names.contains(name) else {
                failures.append("\(name) has a limit, but there is no such benchmark.")
                continue
            }
            guard let found = rows.first(where: { $0.name == name })?.allocsPerOp else { continue }
            checked += 1
            if found > most {
                failures.append(
                    "\(name) makes \(Numbers.short(found)) allocations, \(Numbers.short(most)) are allowed.")
            }
        }
        return (checked, failures)
    }
}
