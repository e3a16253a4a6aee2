import Foundation
import LoaderChain
import ReportOutbox

/// Draws the reports of an outbox as a table.
enum OutboxView {
    static func lines(_ reports: [ReportSummary]) -> [StyledLine] {
        var table = TextTable([
            ("report", .left), ("submitted", .left), ("bytes", .right), ("attempts", .right), ("state", .left),
        ])
        for report in reports {
            let state: StyledLine =
                if let reason = report.setAsideBecause {
                    StyledLine("set aside: \(Plain.text(reason))", .bad)
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
        let aside = reports.count { $0.setAsideBecause != nil }
        let sum = "\(NumberText.count(reports.count - aside)) wait, \(NumberText.count(aside)) were set aside"
        return table.lines + [StyledLine(sum, .faint)]
    }
}

/// The JSON form of a report.
struct OutboxRow: Encodable {
    var id: String?
    var submitted: Date?
    var due: Date?
    var attempts: Int?
    var bytes: Int64?
    var isBeingSent: Bool?
    var setAsideBecause: String?
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
        setAsideBecause = summary.setAsideBecause
        method = request?.method.rawValue
        url = request?.loggableURL
        headers = request?.headers.redacted.map { "\($0.name): \($0.value)" }
    }
}
