// MetricKit: the command `metrickit`. Depends on the folders below the commands; only Program uses it.

struct MetricKitArguments: Sendable {
    var files: [String] = []
    /// Whether to print only the averages of all payloads.
    var isTogether = false

    static let syntax = Syntax(
        "metrickit", summary: "Prints what MetricKit payloads contain.",
        operands: ("FILE…", 1...10_000),
        options: [.init("together", "Print only the averages over all payloads, by version of the app.")],
        notes: [
            "A FILE has a payload's jsonRepresentation(), from any system since iOS 13; - is standard input.",
            "After several payloads, the averages over all of them are printed.",
        ])

    init(_ list: ArgumentList) {
        files = list.operands
        isTogether = list.has("together")
    }
}
