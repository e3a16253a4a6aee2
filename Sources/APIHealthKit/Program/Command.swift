// Program: the choice of a command, and the help. Depends on all other folders; no folder uses it.

/// The commands of the program.
enum Command: String, CaseIterable, Sendable {
    /// Also runs without a command.
    case demo
    case watch
    case report
    case outbox
    case metrickit
    case help

    var syntax: Syntax {
        switch self {
        case .demo: DemoArguments.syntax
        case .watch: WatchArguments.syntax
        case .report: ReportArguments.syntax
        case .outbox: OutboxArguments.syntax
        case .metrickit: MetricKitArguments.syntax
        case .help:
            Syntax("help", summary: "Explains a command.", operands: ("COMMAND", 0...1))
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
