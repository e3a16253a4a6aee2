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
        let list = try command.syntax.parse(rest)
        switch command {
        case .demo: return try await Demo(DemoArguments(list), in: surroundings).run()
        case .watch: return try await Watch(WatchArguments(list), in: surroundings).run()
        case .report: return try ReportCommand(arguments: ReportArguments(list), surroundings: surroundings).run()
        case .outbox: return try OutboxCommand(arguments: OutboxArguments(list), surroundings: surroundings).run()
        case .metrickit:
            return try MetricKitCommand(arguments: MetricKitArguments(list), surroundings: surroundings).run()
        case .help:
            let topic = try list.operands.first.map { name throws(ProgramError) in try Command.named(name) }
            return help(topic ?? .demo)
        }
    }

    private func help(_ command: Command) -> ProgramStatus {
        let text = command == .demo || command == .help ? HelpText.overview : HelpText.page(of: command.syntax)
        surroundings.output.write(text)
        return .success
    }
}
