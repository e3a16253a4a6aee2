import DurableFiles
import Foundation
import LoaderChain
import ReportOutbox

/// Inspects the outbox in a directory, and retries, exports or purges its reports.
struct OutboxCommand: Sendable {
    let arguments: OutboxArguments
    let surroundings: Surroundings

    func run() throws(ProgramError) -> ProgramStatus {
        let inspector = try asking { () throws(OutboxError) in
            try OutboxInspector(directory: URL(filePath: arguments.directory))
        }
        let known = try asking { () throws(OutboxError) in try inspector.reports() }
        guard !known.isEmpty || isOutbox else {
            throw ProgramError(
                .failure,
                "\(Plain.text(arguments.directory)) is not an outbox; give the directory of a ReportOutbox, which has reports or a lock"
            )
        }
        switch arguments.action {
        case .list: try list(known)
        case .show(let text):
            let id = try identifier(text, among: known)
            let request = try asking { () throws(OutboxError) in try inspector.request(of: id) }
            for summary in known where summary.id == id { try show(request, summary) }
        case .retry(let text):
            let id = try identifier(text, among: known)
            try asking { () throws(OutboxError) in try inspector.retry(id) }
            say("The report \(id) is back in the outbox.")
        case .retryAll:
            let count = try asking { () throws(OutboxError) in try inspector.retryAll() }
            say("Back in the outbox: \(NumberText.count(count, "report")).")
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

    /// Whether the directory is that of an outbox without reports, which has its lock and nothing of others.
    private var isOutbox: Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: arguments.directory)) ?? []
        let own = [OwnerLock.name, "aside", "discarded"]
        return names.contains(OwnerLock.name) && names.allSatisfy { own.contains($0) || $0.hasPrefix("tmp-") }
    }

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
            .unhealthy, "there is no report “\(Plain.text(text))” in the outbox; see apihealth outbox list DIRECTORY")
    }

    private func list(_ reports: [ReportSummary]) throws(ProgramError) {
        if arguments.isJSON { return try surroundings.output.write(json: reports.map { OutboxRow($0) }) }
        guard !reports.isEmpty else { return say("The outbox is empty.") }
        let style = Style(isColoured: surroundings.mayColour && !arguments.isPlain)
        surroundings.output.write(lines: Self.lines(reports).map { $0.text(style) })
    }

    private func show(_ request: HTTPRequest, _ summary: ReportSummary) throws(ProgramError) {
        if arguments.isJSON { return try surroundings.output.write(json: OutboxRow(summary, request)) }
        var lines = ["\(request.method) \(request.loggableURL)"]
        for field in request.headers.redacted { lines.append("\(field.name): \(field.value)") }
        lines.append("")
        lines += Self.lines([summary]).map { $0.text(Style(isColoured: false)) }
        surroundings.output.write(lines: lines.map(Plain.text))
    }

    private func say(_ text: String) { surroundings.output.write(text + "\n") }

    private static func lines(_ reports: [ReportSummary]) -> [StyledLine] {
        var table = TextTable([
            .init("report"), .init("submitted"), .init("bytes", .right), .init("attempts", .right), .init("state"),
        ])
        for report in reports {
            let state: StyledLine =
                if let reason = report.deadLetterReason {
                    StyledLine("dead letter: \(Plain.text(reason))", .bad)
                } else if report.isBeingSent {
                    StyledLine("being sent", .accent)
                } else {
                    StyledLine("waits, due \(report.due.formatted(.iso8601))", .plain)
                }
            table.add([
                StyledLine(Plain.fit(report.id.description, to: 48), .strong),
                StyledLine(report.date.formatted(.iso8601)), StyledLine(NumberText.count(Int(report.size))),
                StyledLine("\(report.attempts)"), state,
            ])
        }
        let deadLetters = reports.count { $0.deadLetterReason != nil }
        let sum =
            "\(NumberText.count(reports.count - deadLetters)) waiting, \(NumberText.count(deadLetters, "dead letter"))"
        return table.lines() + [StyledLine(sum, .faint)]
    }
}

struct OutboxArguments: Sendable {
    enum Action: Sendable, Hashable {
        case list
        case show(String)
        case retry(String)
        case retryAll
        case export(String, to: String)
        case purge(String)
        case purgeAll
    }

    let directory: String
    let action: Action
    let isJSON: Bool
    let isPlain: Bool

    static let syntax = Syntax(
        command: "outbox", summary: "Inspects and repairs an outbox of reports.",
        operands: ("ACTION DIRECTORY [ID [FILE]]", 2...4), words: actions,
        options: [
            .init("all", "With retry: all dead letters. With purge: all reports."),
            .init("plain", "Print lines without colour."),
            .init("json", "Print JSON: an array with list, an object with show."),
        ],
        notes: [
            "Actions:",
            "  list DIRECTORY             Lists the waiting reports and the dead letters.",
            "  show DIRECTORY ID          Shows the request of a report, without its bytes.",
            "  retry DIRECTORY ID         Puts a dead letter back into the outbox.",
            "  export DIRECTORY ID FILE   Writes the bytes of a report to a new file.",
            "  purge DIRECTORY ID         Removes a report for good.",
            "",
            "list, show and export are safe while a program uses the outbox; retry and purge need it closed.",
        ])

    private static let actions = ["list", "show", "retry", "export", "purge"]

    init(_ list: ArgumentList) throws(ProgramError) {
        let name = list.operands[0]
        directory = list.operands[1]
        let rest = Array(list.operands.dropFirst(2))
        isJSON = list.has("json")
        isPlain = list.has("plain")
        let all = list.has("all")
        guard Self.actions.contains(name) else { throw Nearest.unknown("action", name, among: Self.actions) }
        switch (name, rest.count, all) {
        case ("list", 0, false): action = .list
        case ("show", 1, false): action = .show(rest[0])
        case ("retry", 1, false): action = .retry(rest[0])
        case ("retry", 0, true): action = .retryAll
        case ("export", 2, false): action = .export(rest[0], to: rest[1])
        case ("purge", 1, false): action = .purge(rest[0])
        case ("purge", 0, true): action = .purgeAll
        default:
            throw ProgramError(.usage, "wrong arguments for “outbox \(name)”; see apihealth outbox --help")
        }
    }
}

private struct OutboxRow: Encodable {
    var id: String?
    var submitted: Date?
    var due: Date?
    var attempts: Int?
    var bytes: Int64?
    var isBeingSent: Bool?
    var deadLetterReason: String?
    var method: String?
    var url: String?
    var headers: [String]?

    init(_ summary: ReportSummary, _ request: HTTPRequest? = nil) {
        id = summary.id.rawValue
        submitted = summary.date
        due = summary.due
        attempts = summary.attempts
        bytes = summary.size
        isBeingSent = summary.isBeingSent
        deadLetterReason = summary.deadLetterReason
        method = request?.method.rawValue
        url = request?.loggableURL
        headers = request?.headers.redacted.map { "\($0.name): \($0.value)" }
    }
}
