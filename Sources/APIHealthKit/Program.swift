/// The program: parses the arguments, runs the command and returns an exit status.
package struct Program: Sendable {
    private let surroundings: Surroundings

    package init(in surroundings: Surroundings) { self.surroundings = surroundings }

    package func run(_ arguments: [String]) async -> ProgramStatus {
        do throws(ProgramError) {
            let status = try await perform(arguments)
            // Who reads only the first lines has had them.
            guard status == .success || status == .failure, let loss = surroundings.output.loss, !loss.isUnwanted
            else { return status }
            throw ProgramError(.failure, "the output was lost: \(SystemText.of(loss.code))")
        } catch {
            surroundings.errors.write("apihealth: \(error.message)\n")
            return error.status
        }
    }

    private func perform(_ arguments: [String]) async throws(ProgramError) -> ProgramStatus {
        let (command, rest) = try Command.chosen(by: arguments)
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            return help(command)
        }
        var list = try command.syntax.parse(rest)
        list.environment = surroundings.environment
        switch command {
        case .demo where list.has("version"): return say("apihealth \(Version.number)\n")
        case .demo: return try await Demo(DemoArguments(list), in: surroundings).run()
        case .watch: return try await Watch(WatchArguments(list), in: surroundings).run()
        case .report: return try ReportCommand(arguments: ReportArguments(list), surroundings: surroundings).run()
        case .outbox: return try OutboxCommand(arguments: OutboxArguments(list), surroundings: surroundings).run()
        case .metrickit:
            return MetricKitCommand(arguments: MetricKitArguments(list), surroundings: surroundings).run()
        case .completions:
            guard let shell = Completions.Shell(rawValue: list.operands[0]) else {
                throw Nearest.unknown("shell", list.operands[0], among: Completions.Shell.allCases.map(\.rawValue))
            }
            return say(Completions.script(for: shell, Command.allCases.map(\.syntax)))
        case .manual: return say(Manual.page(Command.allCases.map(\.syntax)))
        case .help:
            let topic = try list.operands.first.map { name throws(ProgramError) in try Command.named(name) }
            return help(topic ?? .demo)
        }
    }

    private func help(_ command: Command) -> ProgramStatus {
        say(command == .demo || command == .help ? HelpText.overview : HelpText.page(of: command.syntax))
    }

    private func say(_ text: String) -> ProgramStatus {
        surroundings.output.write(text)
        return .success
    }
}

enum Command: String, CaseIterable, Sendable {
    /// Also runs without a command.
    case demo
    case watch
    case report
    case outbox
    case metrickit
    case completions
    case manual
    case help

    var syntax: Syntax {
        switch self {
        case .demo: DemoArguments.syntax
        case .watch: WatchArguments.syntax
        case .report: ReportArguments.syntax
        case .outbox: OutboxArguments.syntax
        case .metrickit: MetricKitArguments.syntax
        case .completions:
            Syntax(
                command: "completions", summary: "Prints what a shell completes: bash, zsh or fish.",
                operands: ("SHELL", 1...1), words: Completions.Shell.allCases.map(\.rawValue),
                notes: [
                    "bash:  eval \"$(apihealth completions bash)\"",
                    "zsh:   apihealth completions zsh > a directory of $fpath, in a file with the name _apihealth",
                    "fish:  apihealth completions fish > ~/.config/fish/completions/apihealth.fish",
                ])
        case .manual:
            Syntax(
                command: "manual", summary: "Prints the manual page, for man -l - or a file with the name apihealth.1.")
        case .help:
            Syntax(
                command: "help", summary: "Explains a command.", operands: ("COMMAND", 0...1),
                words: Self.allCases.map(\.rawValue))
        }
    }

    /// The command that the first argument names, or the demo, and the remaining arguments.
    static func chosen(by arguments: [String]) throws(ProgramError) -> (Command, [String]) {
        guard let first = arguments.first, !first.hasPrefix("-") else { return (.demo, arguments) }
        return (try named(first), Array(arguments.dropFirst()))
    }

    static func named(_ name: String) throws(ProgramError) -> Command {
        if let command = Command(rawValue: name) { return command }
        throw Nearest.unknown("command", name, among: allCases.map(\.rawValue))
    }
}

private enum HelpText {
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
        let rows = options.map { ("--" + $0.name + ($0.value.map { " " + $0 } ?? ""), $0.help) }
        return Plain.table(rows + [("--help", "Show this help.")])
    }

    private static var exitStatuses: [String] {
        ["Exit status:"] + ProgramStatus.table.map { "  \($0.status.rawValue)  \($0.meaning)" }
    }
}
