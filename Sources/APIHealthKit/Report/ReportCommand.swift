import LoaderChain

/// Reads files of metrics and writes an HTML page.
struct ReportCommand: Sendable {
    let arguments: ReportArguments
    let surroundings: Surroundings
    /// How many routes are counted to find the most important ones.
    var censusLimit = ReportModel.censusLimit

    func run() throws(ProgramError) -> ProgramStatus {
        let page = PageFile(path: arguments.page)
        // Before anything is read, and whatever the path looks like: links lead to inputs, too.
        if !arguments.isOnStandardOutput, let input = arguments.files.first(where: page.isSame) {
            throw ProgramError(.usage, "the page would replace \(Plain.text(input)); give another path with --output")
        }
        var model = try read(into: ReportModel(censusLimit: censusLimit))
        if let better = model.withMostImportant {
            if arguments.files.allSatisfy(ReportReader.canReadAgain) {
                if model.lacksRoutes {
                    surroundings.errors.write(
                        "apihealth: only \(NumberText.count(censusLimit)) routes were counted, "
                            + "those that fail before all others; the page may lack an important one\n")
                }
                model = try read(into: better)
            } else {
                surroundings.errors.write(
                    "apihealth: the page has the first \(ReportModel.routeLimit) routes; give files, which can be read twice, for those that fail most\n"
                )
            }
        }
        guard model.total.count > 0 else {
            throw ProgramError(
                .unhealthy,
                "there is no request in \(arguments.files.map(Plain.text).joined(separator: ", ")); "
                    + "unreadable are \(NumberText.count(model.badLines, "line")), about something else \(NumberText.count(model.otherPoints, "point"))"
                    + (model.firstProblems.first.map { " (\($0))" } ?? ""))
        }
        let html = ReportPage(model, title: arguments.title).html
        if arguments.isOnStandardOutput {
            surroundings.output.write(html)
            try tell(model, to: surroundings.errors)
        } else {
            try page.write(html)
            try tell(model, to: surroundings.output)
        }
        return .success
    }

    private func read(into model: ReportModel) throws(ProgramError) -> ReportModel {
        var model = model
        for file in arguments.files {
            try ReportReader.read(file, precision: arguments.precision, into: &model)
        }
        return model
    }

    private func tell(_ model: ReportModel, to output: Output) throws(ProgramError) {
        let total = model.total
        let hasOthers = model.routes[.others] != nil
        if arguments.form == .json {
            let result = Result(
                page: arguments.page, requests: total.count, otherPoints: model.otherPoints, badLines: model.badLines,
                firstProblems: model.firstProblems)
            return try output.write(json: result)
        }
        var lines = [
            "\(arguments.isOnStandardOutput ? "The page" : Plain.text(arguments.page)) shows \(NumberText.count(total.count, "request")) to \(NumberText.count(model.routes.count - (hasOthers ? 1 : 0), "route"))\(hasOthers ? " and, counted together, to all others" : ""), "
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
        output.write(lines: lines)
    }

    private struct Result: Encodable {
        var page: String
        var requests: Int
        var otherPoints: Int
        var badLines: Int
        var firstProblems: [String]
    }
}
