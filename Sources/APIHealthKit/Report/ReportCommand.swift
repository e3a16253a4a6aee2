import Foundation
import LoaderChain

/// Reads files of metrics and writes an HTML page.
struct ReportCommand: Sendable {
    let arguments: ReportArguments
    let surroundings: Surroundings

    func run() throws(ProgramError) -> ProgramStatus {
        var model = ReportModel()
        for file in arguments.files {
            try ReportReader.read(file, precision: arguments.precision, into: &model)
        }
        let page = arguments.page
        guard !arguments.files.contains(page) else {
            throw ProgramError(.usage, "the page would replace \(Plain.text(page)); give another path with --output")
        }
        guard model.total.count > 0 else {
            throw ProgramError(
                .unhealthy,
                "there is no request in \(arguments.files.map(Plain.text).joined(separator: ", ")); "
                    + "unreadable are \(NumberText.count(model.badLines, "line")), about something else \(NumberText.count(model.otherPoints, "point"))"
                    + (model.firstProblems.first.map { " (\($0))" } ?? ""))
        }
        let html = ReportPage(model, title: arguments.title).html
        do {
            try Data(html.utf8).write(to: URL(filePath: page), options: .atomic)
        } catch {
            throw ProgramError(.failure, "\(Plain.text(page)) cannot be written; choose another path with --output")
        }
        try tell(model, page)
        return .success
    }

    private func tell(_ model: ReportModel, _ page: String) throws(ProgramError) {
        let total = model.total
        if arguments.form == .json {
            let result = Result(
                page: page, requests: total.count, otherPoints: model.otherPoints, badLines: model.badLines,
                firstProblems: model.firstProblems)
            return try surroundings.output.write(json: result)
        }
        var lines = [
            "\(Plain.text(page)) shows \(NumberText.count(total.count, "request")) to \(NumberText.count(model.routes.count, "route")), "
                + "\(NumberText.percent(total.good, of: total.judged)) of them good."
        ]
        if model.otherPoints > 0 {
            lines.append("Skipped, because they are not requests: \(NumberText.count(model.otherPoints, "point")).")
        }
        if model.badLines > 0 {
            lines.append(
                "Skipped, because they cannot be read: \(NumberText.count(model.badLines, "line")). The first:")
            lines += model.firstProblems.map { "  " + Plain.text($0) }
        }
        surroundings.output.write(lines: lines)
    }

    private struct Result: Encodable {
        var page: String
        var requests: Int
        var otherPoints: Int
        var badLines: Int
        var firstProblems: [String]
    }
}
