/// The options and operands of a command, used by the parser and by the help text.
struct Syntax: Sendable {
    struct Option: Sendable {
        /// The name without the dashes.
        let name: String
        /// The placeholder for the value in the help text; nil for a flag.
        let value: String?
        let repeats: Bool
        let help: String

        init(_ name: String, _ value: String, repeats: Bool = false, _ help: String) {
            self.name = name
            self.value = value
            self.repeats = repeats
            self.help = help
        }

        /// Makes a flag.
        init(_ name: String, _ help: String) {
            self.name = name
            self.help = help
            value = nil
            repeats = false
        }
    }

    /// The placeholder in the help text, and how many operands the command takes.
    typealias Operands = (name: String, count: ClosedRange<Int>)

    let command: String
    let summary: String
    let operands: Operands?
    let options: [Option]
    /// Lines at the end of the help text.
    let notes: [String]

    init(
        _ command: String, summary: String, operands: Operands? = nil, options: [Option] = [], notes: [String] = []
    ) {
        self.command = command
        self.summary = summary
        self.operands = operands
        self.options = options
        self.notes = notes
    }

    var invocation: String { command == "demo" ? "apihealth" : "apihealth \(command)" }
}
