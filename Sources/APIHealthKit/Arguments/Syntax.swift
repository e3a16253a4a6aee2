/// What a command is written like: its options and its operands, for reading and for the help text alike.
struct Syntax: Sendable {
    /// An option, `--name` or `--name VALUE`.
    struct Option: Sendable {
        /// The name without its dashes.
        let name: String
        /// What stands for the value in the help text; nil for an option without one.
        let value: String?
        /// Whether it may be given more than once.
        let repeats: Bool
        /// What it is for, in a few words.
        let help: String

        /// An option with a value.
        init(_ name: String, _ value: String, repeats: Bool = false, _ help: String) {
            self.name = name
            self.value = value
            self.repeats = repeats
            self.help = help
        }

        /// An option without one.
        init(_ name: String, _ help: String) {
            self.name = name
            self.help = help
            value = nil
            repeats = false
        }
    }

    /// What follows the options: what stands for it in the help text, and how many there may be.
    typealias Operands = (name: String, count: ClosedRange<Int>)

    let command: String
    let summary: String
    let operands: Operands?
    let options: [Option]
    /// Lines for the end of the help text.
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

    /// The command as it begins on the command line.
    var invocation: String { command == "demo" ? "apihealth" : "apihealth \(command)" }
}
