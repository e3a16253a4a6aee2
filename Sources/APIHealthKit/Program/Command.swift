/// What the program can do.
enum Command: String, CaseIterable, Sendable {
    /// Shows a chain at work; what happens without a command.
    case demo
    case watch
    case report
    case outbox
    case metrickit
    case help

    /// What it is written like.
    var syntax: Syntax {
        switch self {
        case .demo: DemoArguments.syntax
        case .watch: WatchArguments.syntax
        case .report: ReportArguments.syntax
        case .outbox: OutboxArguments.syntax
        case .metrickit: MetricKitArguments.syntax
        case .help:
            Syntax("help", summary: "Tells how a command is used.", operands: ("COMMAND", 0...1))
        }
    }

    /// The command that the first argument names, or the demo, and the arguments that are left.
    static func chosen(by arguments: [String]) throws(ProgramError) -> (Command, [String]) {
        guard let first = arguments.first, !first.hasPrefix("-") else { return (.demo, arguments) }
        return (try named(first), Array(arguments.dropFirst()))
    }

    /// The command of a name.
    static func named(_ name: String) throws(ProgramError) -> Command {
        if let command = Command(rawValue: name) { return command }
        throw Nearest.unknown("command", name, among: allCases.map(\.rawValue))
    }
}
