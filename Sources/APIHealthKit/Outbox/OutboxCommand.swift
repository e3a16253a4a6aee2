import Foundation
import LoaderChain
import ReportOutbox

/// Inspects the outbox in a directory, and retries, exports or purges its reports.
struct OutboxCommand: Sendable {
    let arguments: OutboxArguments
    let surroundings: Surroundings

    func run() throws(ProgramError) -> ProgramStatus {
        let inspector = try asking { () throws(OutboxError) in
            try BoxInspector(directory: URL(filePath: arguments.directory))
        }
        let known = try asking { () throws(OutboxError) in try inspector.reports() }
        switch arguments.action {
        case .list: try list(known)
        case .show(let text):
            let id = try identifier(text, among: known)
            let request = try asking { () throws(OutboxError) in try inspector.request(of: id) }
            for summary in known where summary.id == id { try show(request, summary) }
        case .retry(let text):
            let id = try identifier(text, among: known)
            try asking { () throws(OutboxError) in try inspector.retry(id) }
            say("The report \(id) is back in the box.")
        case .retryAll:
            let aside = known.filter { $0.setAsideBecause != nil }
            for report in aside { try asking { () throws(OutboxError) in try inspector.retry(report.id) } }
            say("Back in the box: \(NumberText.count(aside.count, "report")).")
        case .export(let text, let path):
            let id = try identifier(text, among: known)
            try asking { () throws(OutboxError) in try inspector.export(id, to: URL(filePath: path)) }
            say("The report \(id) is in \(Plain.text(path)).")
        case .purge(let text):
            let id = try identifier(text, among: known)
            try asking { () throws(OutboxError) in try inspector.purge(id) }
            say("The report \(id) is gone.")
        case .purgeAll:
            say(
                "Gone: \(NumberText.count(try asking { () throws(OutboxError) in try inspector.purgeAll() }, "report"))."
            )
        }
        return .success
    }

    /// Turns errors of the outbox into the program's own.
    private func asking<Answer>(_ question: () throws(OutboxError) -> Answer) throws(ProgramError) -> Answer {
        do throws(OutboxError) { return try question() } catch {
            throw ProgramError(error.code == .unknownReport ? .unhealthy : .failure, Plain.text(error.reason))
        }
    }

    /// The identifier, as submitted or percent-encoded as in the list; a unique prefix of four characters is enough.
    private func identifier(_ text: String, among known: [ReportSummary]) throws(ProgramError) -> ReportID {
        let ids = known.map(\.id)
        if let id = ids.first(where: { $0.rawValue == text || $0.description == text }) { return id }
        let beginning = ids.filter { $0.description.hasPrefix(text) }
        if text.count >= 4, beginning.count == 1 { return beginning[0] }
        throw ProgramError(
            .unhealthy, "there is no report “\(Plain.text(text))” in the box; see apihealth outbox list DIRECTORY")
    }

    private func list(_ reports: [ReportSummary]) throws(ProgramError) {
        if arguments.isJSON { return try surroundings.output.write(json: reports.map { OutboxRow($0) }) }
        guard !reports.isEmpty else { return say("The box is empty.") }
        let style = Style(isColoured: surroundings.mayColour && !arguments.isPlain)
        surroundings.output.write(lines: OutboxView.lines(reports).map { $0.text(style) })
    }

    private func show(_ request: HTTPRequest, _ summary: ReportSummary) throws(ProgramError) {
        if arguments.isJSON { return try surroundings.output.write(json: OutboxRow(summary, request)) }
        var lines = ["\(request.method) \(request.loggableURL)"]
        for field in request.headers.redacted { lines.append("\(field.name): \(field.value)") }
        lines.append("")
        lines += OutboxView.lines([summary]).map { $0.text(Style(isColoured: false)) }
        surroundings.output.write(lines: lines.map(Plain.text))
    }

    private func say(_ text: String) { surroundings.output.write(text + "\n") }
}
