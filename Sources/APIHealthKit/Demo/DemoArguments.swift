import Foundation

/// What the demo is asked for.
package struct DemoArguments: Sendable {
    package var duration: Duration = .seconds(10)
    package var seed: UInt64 = 1
    /// Where the metrics go; into a new file among the temporary ones if it names nothing.
    package var stores = StoreArguments()
    package var form: Form = .screen
    /// How long requests may take after the last was made, until the chain is reset; twice as long may any of them take.
    package var patience: Duration = .seconds(3)

    /// How a command shows what it does.
    package enum Form: Sendable {
        /// Live where it goes to a terminal, otherwise lines.
        case screen
        case lines
        case json
    }

    package init() {}

    package static let syntax = Syntax(
        "demo", summary: "Runs a demo API and a chain against it, and shows both at work.",
        options: [
            .init("seconds", "N", "How long requests are made, 1 to 3600; 10 unless given."),
            .init("seed", "N", "What traffic and faults are drawn from; 1 unless given."),
            .init("plain", "Print lines, also on a terminal."),
            .init("json", "Print one JSON object at the end."),
        ] + StoreArguments.options,
        notes: ["Without --file and --influx, the metrics go to a new file among the temporary ones."])

    package init(_ list: ArgumentList) throws(ProgramError) {
        try list.forbid("plain", with: "json")
        if let seconds = try list.integer("seconds", in: 1...3_600) { duration = .seconds(seconds) }
        if let text = list.text("seed") {
            guard let number = UInt64(text) else { throw list.wrong("seed", text, "a whole number from 0 on") }
            seed = number
        }
        stores = try StoreArguments(list)
        form = Form(list)
    }
}

extension DemoArguments.Form {
    init(_ list: ArgumentList) {
        self = list.has("json") ? .json : list.has("plain") ? .lines : .screen
    }
}
