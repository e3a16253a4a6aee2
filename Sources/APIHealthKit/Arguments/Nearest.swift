/// Suggests names for mistyped ones.
enum Nearest {
    /// An error for an unknown name that suggests the nearest one, or else lists all of them.
    static func unknown(_ kind: String, _ name: String, among names: [String]) -> ProgramError {
        let advice =
            Self.name(to: name, among: names).map { "did you mean “\($0)”?" }
            ?? "the \(kind)s are \(names.joined(separator: ", "))"
        return ProgramError(.usage, "there is no \(kind) “\(Plain.text(name))”; \(advice)")
    }

    /// The name with the smallest edit distance, if that is small; the first of several.
    static func name(to text: String, among names: [String]) -> String? {
        let text = Array(text.lowercased().unicodeScalars.prefix(longest))
        let ranked = names.map { name -> (name: String, distance: Int) in
            let scalars = Array(name.unicodeScalars)
            // A name that was not finished is not mistyped.
            let isBeginning = text.count >= 2 && scalars.starts(with: text)
            return (name, isBeginning ? 0 : distance(text, scalars))
        }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.name.unicodeScalars.count / 3) ? best.name : nil
    }

    private static var longest: Int { 64 }

    /// The edit distance: insertions, deletions, replacements and swaps of neighbours.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for (row, scalar) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (scalar == other ? 0 : 1))
                let isSwap = row > 0 && column > 0 && scalar == right[column - 1] && left[row - 1] == other
                if isSwap { best = min(best, beforeLast[column - 1] + 1) }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
