// MetricKit: the command `metrickit`. Depends on the folders below the commands; only Program uses it.

struct MetricKitArguments: Sendable {
    var files: [String] = []
    /// Whether to print only the averages of all payloads.
    var isTogether = false

    static let syntax = Syntax(
        "metrickit", summary: "Tells what MetricKit's payloads say, as a person reads it.",
        operands: ("FILE…", 1...10_000),
        options: [.init("together", "Only the averages of all payloads, for each version of the app.")],
        notes: [
            "A FILE is what a payload's jsonRepresentation() gives, of any system since iOS 13; - is standard input.",
            "Of several payloads, the averages of all are told at the end.",
        ])

    init(_ list: ArgumentList) {
        files = list.operands
        isTogether = list.has("together")
    }
}
