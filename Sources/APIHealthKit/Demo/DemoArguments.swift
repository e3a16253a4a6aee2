import Foundation

struct DemoArguments: Sendable {
    var duration: Duration = .seconds(10)
    var seed: UInt64 = 1
    /// Where the metrics go; a new temporary file if no store is named.
    var stores = StoreArguments()
    var form = OutputForm.screen
    /// How long to wait after the last request before the chain is reset; a single request may take twice as long.
    var patience: Duration = .seconds(3)

    init() {}

    static let syntax = Syntax(
        "demo", summary: "Runs a demo API and a chain against it, and shows both at work.",
        options: [
            .init("seconds", "N", "How long to make requests, 1 to 3600; 10 by default."),
            .init("seed", "N", "The seed of traffic and faults; 1 by default."),
            .init("plain", "Print lines, even on a terminal."),
            .init("json", "Print one JSON object at the end."),
        ] + StoreArguments.options,
        notes: ["Without --file and --influx, the metrics go to a new temporary file."])

    init(_ list: ArgumentList) throws(ProgramError) {
        if let seconds = try list.integer("seconds", in: 1...3_600) { duration = .seconds(seconds) }
        if let text = list.text("seed") {
            guard let number = UInt64(text) else { throw list.wrong("seed", text, "a whole number from 0 on") }
            seed = number
        }
        stores = try StoreArguments(list)
        form = try OutputForm(list)
    }
}
