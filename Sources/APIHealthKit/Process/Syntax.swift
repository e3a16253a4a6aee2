/// The options and operands of a command, used by the parser and by the help text.
struct Syntax: Sendable {
    struct Option: Sendable {
        /// The name without the dashes.
        let name: String
        /// The placeholder for the value in the help text; nil for a flag.
        let value: String?
        let repeats: Bool
        let help: String

        init(_ name: String, _ value: String, repeats: Bool = false, _ help: String) {
            self.name = name
            self.value = value
            self.repeats = repeats
            self.help = help
        }

        var isPath: Bool { value == "PATH" }

        init(_ name: String, _ help: String) {
            self.name = name
            self.help = help
            value = nil
            repeats = false
        }
    }

    /// The placeholder in the help text, and how many operands the command takes.
    typealias Operands = (name: String, count: ClosedRange<Int>)

    let command: String
    let summary: String
    var operands: Operands?
    /// The words that the first operand may be; empty if it may be anything.
    var words: [String] = []
    var options: [Option] = []
    /// Lines at the end of the help text.
    var notes: [String] = []

    var invocation: String { command == "demo" ? "apihealth" : "apihealth \(command)" }
}

extension Syntax {
    /// Parses `--name VALUE` and `--name=VALUE`; everything after `--` is an operand.
    func parse(_ arguments: [String]) throws(ProgramError) -> ArgumentList {
        var list = ArgumentList(of: self)
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                list.operands += rest
                break
            }
            // By convention, a single dash stands for standard input.
            guard argument.hasPrefix("-"), argument != "-" else {
                list.operands.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let option = try option(String(parts[0]))
            let given = list.values[option.name]
            if given != nil, !option.repeats { throw wrong("--\(option.name) is given twice; give it once") }
            if option.value == nil {
                if parts.count > 1 { throw wrong("--\(option.name) takes no value; write it without “=”") }
                list.values[option.name] = []
            } else if parts.count > 1 {
                list.values[option.name, default: []].append(String(parts[1]))
            } else if let value = rest.popFirst() {
                list.values[option.name, default: []].append(value)
            } else {
                throw wrong("--\(option.name) needs a value; write --\(option.name) \(option.value ?? "VALUE")")
            }
        }
        try check(list.operands)
        return list
    }

    private func option(_ text: String) throws(ProgramError) -> Option {
        let name = text.drop { $0 == "-" }
        if text.hasPrefix("--"), let option = options.first(where: { $0.name == name }) { return option }
        let advice = Nearest.name(to: String(name), among: options.map(\.name)).map { "did you mean --\($0)?" }
        throw wrong("there is no option \(Plain.text(text)); \(advice ?? "see \(invocation) --help")")
    }

    private func check(_ given: [String]) throws(ProgramError) {
        guard let operands else {
            guard let first = given.first else { return }
            throw wrong("“\(Plain.text(first))” is one argument too many; see \(invocation) --help")
        }
        if given.count < operands.count.lowerBound {
            throw wrong("\(operands.name) is missing; write \(usage)")
        }
        if given.count > operands.count.upperBound {
            let first = given[operands.count.upperBound]
            throw wrong("“\(Plain.text(first))” is one argument too many; write \(usage)")
        }
    }

    /// The one-line usage at the top of the help text.
    var usage: String {
        var words = [invocation]
        if let operands { words.append(operands.count.lowerBound == 0 ? "[\(operands.name)]" : operands.name) }
        if !options.isEmpty { words.append("[OPTION…]") }
        return words.joined(separator: " ")
    }

    /// The command with its first operand, for the overview.
    var shortUsage: String {
        guard let operands else { return invocation }
        let first = operands.name.prefix { $0 != " " }
        return operands.count.lowerBound == 0 ? "\(invocation) [\(first)]" : "\(invocation) \(first)"
    }

    private func wrong(_ message: String) -> ProgramError { ProgramError(.usage, message) }
}

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
