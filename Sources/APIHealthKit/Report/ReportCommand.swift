import Foundation
import LoaderChain

/// Reads metrics back and makes a page of them.
package struct ReportCommand: Sendable {
    private let arguments: ReportArguments
    private let surroundings: Surroundings

    package init(_ arguments: ReportArguments, in surroundings: Surroundings) {
        self.arguments = arguments
        self.surroundings = surroundings
    }

    /// Reads, writes, and tells what was found.
    package func run() throws(ProgramError) -> ProgramStatus {
        var model = ReportModel()
        for file in arguments.files {
            try ReportReader.read(file, precision: arguments.precision, into: &model)
        }
        let page = arguments.page
        guard !arguments.files.contains(page) else {
            throw ProgramError(.usage, "the page would replace \(Plain.text(page)); give another path by --output")
        }
        guard model.total.count > 0 else {
            throw ProgramError(
                .unhealthy,
                "there is no request in \(arguments.files.map(Plain.text).joined(separator: ", ")); "
                    + "unreadable are \(Words.count(model.badLines, "line")), about something else \(Words.count(model.otherPoints, "point"))"
                    + (model.firstProblems.first.map { " (\($0))" } ?? ""))
        }
        let html = ReportPage(model, title: arguments.title).html
        do {
            try Data(html.utf8).write(to: URL(filePath: page), options: .atomic)
        } catch {
            throw ProgramError(.failure, "\(Plain.text(page)) cannot be written; choose another path by --output")
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
            return surroundings.output.write(try JSONText.of(result))
        }
        var lines = [
            "\(Plain.text(page)) shows \(Words.count(total.count, "request")) to \(Words.count(model.routes.count, "route")), "
                + "\(Decimal.percent(total.good, of: total.judged)) of them good."
        ]
        if model.otherPoints > 0 {
            lines.append("About something else: \(Words.count(model.otherPoints, "point")).")
        }
        if model.badLines > 0 {
            lines.append("Left out because unreadable: \(Words.count(model.badLines, "line")). The first:")
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
