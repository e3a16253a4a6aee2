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
