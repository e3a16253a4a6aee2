// Outbox: the command `outbox`. Depends on the folders below the commands; only Program uses it.

import ReportOutbox

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
        "outbox", summary: "Inspects and repairs an outbox of reports.",
        operands: ("ACTION DIRECTORY [ID [FILE]]", 2...4),
        options: [
            .init("all", "With retry: all reports that were set aside. With purge: all reports."),
            .init("plain", "Print lines without colour."),
            .init("json", "Print one JSON object; with list and show."),
        ],
        notes: [
            "Actions:",
            "  list DIRECTORY             Lists the reports in the box and those that were set aside.",
            "  show DIRECTORY ID          Shows the request of a report, without its bytes.",
            "  retry DIRECTORY ID         Puts a report that was set aside back into the box.",
            "  export DIRECTORY ID FILE   Writes the bytes of a report to a new file.",
            "  purge DIRECTORY ID         Removes a report for good.",
            "",
            "list, show and export are safe while a program uses the box; retry and purge need it closed.",
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
