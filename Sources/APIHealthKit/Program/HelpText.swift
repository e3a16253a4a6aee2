enum HelpText {
    static var overview: String {
        let demo = Command.demo.syntax
        var lines = [
            "apihealth watches HTTP APIs through a loader chain, and shows what the chain does.",
            "",
            "  apihealth                    \(demo.summary)",
        ]
        for command in Command.allCases where command != .demo {
            lines.append("  " + Plain.pad(command.syntax.shortUsage, to: 28) + " " + command.syntax.summary)
        }
        lines += ["", "Options without a command:"] + table(demo.options)
        lines += ["", "A command's options: apihealth COMMAND --help", ""] + exitStatuses
        return lines.joined(separator: "\n") + "\n"
    }

    static func page(of syntax: Syntax) -> String {
        var lines = [syntax.summary, "", "  " + syntax.usage]
        if !syntax.options.isEmpty { lines += ["", "Options:"] + table(syntax.options) }
        if !syntax.notes.isEmpty { lines += [""] + syntax.notes }
        return (lines + [""] + exitStatuses).joined(separator: "\n") + "\n"
    }

    private static func table(_ options: [Syntax.Option]) -> [String] {
        let all =
            options.map { ("--" + $0.name + ($0.value.map { " " + $0 } ?? ""), $0.help) } + [
                ("--help", "Show this help.")
            ]
        let width = all.reduce(0) { max($0, $1.0.count) }
        return all.map { "  " + Plain.pad($0, to: width + 2) + $1 }
    }

    private static var exitStatuses: [String] {
        ["Exit status:"] + ProgramStatus.table.map { "  \($0.status.rawValue)  \($0.meaning)" }
    }
}
