import LineProtocol

struct ReportArguments: Sendable {
    var files: [String] = []
    /// The path of the page; nil for a page beside the first file.
    var output: String?
    var title = "API health"
    var precision = Precision.nanoseconds
    var form = OutputForm.screen

    init() {}

    static let syntax = Syntax(
        "report", summary: "Makes a page with pictures of files of line protocol.",
        operands: ("FILE…", 1...1_000),
        options: [
            .init("output", "PATH", "Where the page goes; the first file's name with .html unless given."),
            .init("title", "TEXT", "The page's title."),
            .init("precision", "UNIT", "The unit of the times: ns, us, ms or s; ns unless given."),
            .init("plain", "Print lines without colour."),
            .init("json", "Print the result as one JSON object."),
        ],
        notes: [
            "The page needs nothing but itself. A line that cannot be read is counted, told and left out; points other",
            "than requests are counted.",
        ])

    init(_ list: ArgumentList) throws(ProgramError) {
        files = list.operands
        output = list.text("output")
        title = list.text("title") ?? title
        form = try OutputForm(list)
        if let text = list.text("precision") {
            let units: [String: Precision] = [
                "ns": .nanoseconds, "us": .microseconds, "ms": .milliseconds, "s": .seconds,
            ]
            guard let unit = units[text] else { throw list.wrong("precision", text, "ns, us, ms or s") }
            precision = unit
        }
    }

    /// The path of the page.
    var page: String {
        if let output { return output }
        let first = files.first ?? "apihealth"
        let name = first.hasSuffix(".lp") ? String(first.dropLast(3)) : first
        return name + ".html"
    }
}
