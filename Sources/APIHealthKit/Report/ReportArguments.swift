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
        "report", summary: "Makes a page with charts from files of line protocol.",
        operands: ("FILE…", 1...1_000),
        options: [
            .init("output", "PATH", "The page, or - for standard output; the first file's name with .html by default."),
            .init("title", "TEXT", "The page's title."),
            .init("precision", "UNIT", "The unit of the timestamps: ns, us, ms or s; ns by default."),
            .init("plain", "Print lines without colour."),
            .init("json", "Print the result as one JSON object."),
        ],
        notes: [
            "The page loads no other resource. A line that cannot be read is counted, reported and left out; points",
            "that are not requests are only counted.",
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

    var isOnStandardOutput: Bool { output == "-" }

    /// The path of the page.
    var page: String {
        if let output { return output }
        let first = files.first ?? "apihealth"
        let name = first.hasSuffix(".lp") ? String(first.dropLast(3)) : first
        return name + ".html"
    }
}
