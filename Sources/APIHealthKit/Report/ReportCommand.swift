import DurableFiles
import Foundation
import LineProtocol
import LoaderChain

/// Reads files of metrics and writes an HTML page.
struct ReportCommand: Sendable {
    let arguments: ReportArguments
    let surroundings: Surroundings
    /// How many routes are counted to find the most important ones.
    var censusLimit = ReportModel.censusLimit

    func run() throws(ProgramError) -> ProgramStatus {
        let page = PageFile(path: arguments.page, isChosen: arguments.output != nil)
        // Before anything is read, and whatever the path looks like: links lead to inputs, too.
        if !arguments.isOnStandardOutput, let input = arguments.files.first(where: page.isSame) {
            throw ProgramError(.usage, "the page would replace \(Plain.text(input)); give another path with --output")
        }
        let inputs = arguments.files.map(ReportInput.init)
        var model = try read(inputs, into: ReportModel(censusLimit: censusLimit))
        if let better = model.withMostImportant {
            if model.lacksRoutes {
                surroundings.complain([
                    "only \(NumberText.count(censusLimit)) routes were counted, "
                        + "those that fail before all others; the page may lack an important one"
                ])
            }
            model = try read(inputs, into: better)
        }
        guard model.total.count > 0 else {
            throw ProgramError(
                .unhealthy,
                "there is no request in \(inputs.map(\.name).joined(separator: ", ")); "
                    + "unreadable are \(NumberText.count(model.badLines, "line")), about something else \(NumberText.count(model.otherPoints, "point"))"
                    + (model.firstProblems.first.map { " (\($0))" } ?? ""))
        }
        let html = ReportPage(model, title: arguments.title).html
        let complaints = arguments.conditions.complaints(about: model.measured)
        if arguments.isOnStandardOutput {
            surroundings.output.write(html)
            try tell(model, complaints, to: surroundings.errors)
        } else {
            try page.write(html)
            try tell(model, complaints, to: surroundings.output)
        }
        surroundings.complain(complaints)
        return complaints.isEmpty ? .success : .unhealthy
    }

    private func read(_ inputs: [ReportInput], into model: ReportModel) throws(ProgramError) -> ReportModel {
        let progress = ReportProgress(surroundings)
        defer { progress?.end() }
        var model = model
        for input in inputs {
            try ReportReader.read(input, precision: arguments.precision, into: &model, progress: progress)
        }
        return model
    }

    private func tell(_ model: ReportModel, _ complaints: [String], to output: Output) throws(ProgramError) {
        let total = model.total
        let hasOthers = model.routes[.others] != nil
        if arguments.form == .json {
            let result = Result(
                page: arguments.page, requests: total.count, otherPoints: model.otherPoints, badLines: model.badLines,
                firstProblems: model.firstProblems, failures: complaints)
            return try output.write(json: result)
        }
        let lines = [
            "\(arguments.isOnStandardOutput ? "The page" : Plain.text(arguments.page)) shows \(NumberText.count(total.count, "request")) to \(NumberText.count(model.routes.count - (hasOthers ? 1 : 0), "route"))\(hasOthers ? " and, counted together, to all others" : ""), "
                + "\(total.goodShare) of them good."
        ]
        output.write(lines: lines + model.omissions { "  " + Plain.text($0) })
    }

    private struct Result: Encodable {
        var page: String
        var requests: Int
        var otherPoints: Int
        var badLines: Int
        var firstProblems: [String]
        var failures: [String]
    }
}

struct ReportArguments: Sendable {
    var files: [String] = []
    /// The path of the page; nil for a page next to the first file.
    var output: String?
    var title = "API health"
    var precision = Precision.nanoseconds
    var conditions = FailConditions()
    var form = OutputForm.screen

    init() {}

    static let syntax = Syntax(
        command: "report", summary: "Makes a page with charts from files of line protocol.",
        operands: ("FILE…", 1...1_000),
        options: [
            .init("output", "PATH", "The page, or - for standard output; the first file's name with .html by default."),
            .init("title", "TEXT", "The page's title."),
            .init("precision", "UNIT", "The unit of the timestamps: ns, us, ms or s; ns by default."),
            FailConditions.option,
            .init("plain", "Print lines without colour."),
            .init("json", "Print the result as one JSON object."),
        ],
        notes: [
            "A FILE may be compressed by gzip; - is standard input. The page loads no other resource. A line that cannot",
            "be read is counted, reported and left out; points that are not requests are only counted.",
        ])

    init(_ list: ArgumentList) throws(ProgramError) {
        files = list.operands
        output = list.text("output")
        title = list.text("title") ?? title
        form = try OutputForm(list)
        conditions = try FailConditions(list)
        guard files.count(where: { $0 == "-" }) < 2 else {
            throw ProgramError(.usage, "standard input can be read once; give - once")
        }
        if let text = list.text("precision") {
            let units: [String: Precision] = [
                "ns": .nanoseconds, "us": .microseconds, "ms": .milliseconds, "s": .seconds,
            ]
            guard let unit = units[text] else { throw list.wrong("precision", text, "ns, us, ms or s") }
            precision = unit
        }
    }

    var isOnStandardOutput: Bool { output == "-" }

    var page: String {
        if let output { return output }
        var name = files.first ?? "-"
        if name == "-" { return "apihealth.html" }
        for suffix in [".gz", ".lp"] where name.hasSuffix(suffix) { name.removeLast(suffix.count) }
        return name + ".html"
    }
}

struct PageFile {
    let path: String
    /// Whether somebody has given the path, who knows where it leads.
    let isChosen: Bool

    /// Whether another path leads to the same file, by whatever links.
    func isSame(as other: String) -> Bool {
        guard let own = Self.status(path), let theirs = Self.status(other) else { return path == other }
        return own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino
    }

    /// Whether a path leads to a regular file; nil if it leads to nothing.
    static func isRegular(_ path: String) -> Bool? { status(path).map { $0.st_mode & S_IFMT == S_IFREG } }

    /// Writes the page: at once and as a whole to a regular file, also behind a link, and in place to anything else.
    ///
    /// Where nobody has given the path, only a regular file is replaced: in a folder that others can write to, a link may be theirs, and
    /// lead to a file of this user.
    func write(_ text: String) throws(ProgramError) {
        let isRegular = Self.isRegular(path)
        // A link to nothing is followed by the system, which then creates the file.
        let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
        guard isChosen || !isLink && isRegular != false else {
            throw ProgramError(
                .failure,
                "\(Plain.text(path)) is a link, or no regular file; give it with --output to write to it all the same")
        }
        do {
            if isRegular == false || isRegular == nil && isLink {
                try writeInPlace(text, isNew: isRegular == nil)
            } else {
                // Replacing a link would leave what it leads to as it was.
                let url = isLink ? URL(filePath: path).resolvingSymlinksInPath() : URL(filePath: path)
                try Data(text.utf8).write(to: url, options: .atomic)
            }
        } catch {
            throw ProgramError(.failure, "\(Plain.text(path)) cannot be written; choose another path with --output")
        }
    }

    private func writeInPlace(_ text: String, isNew: Bool) throws {
        let flags = O_WRONLY | O_CLOEXEC | (isNew ? O_CREAT : 0)
        let (number, _) = uninterrupted { open(path, flags, 0o644) }
        guard number >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(number) }
        guard writeAll(Array(text.utf8), to: number) == nil else { throw CocoaError(.fileWriteUnknown) }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
