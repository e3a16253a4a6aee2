/// How a command shows what it does.
enum OutputForm: Sendable {
    /// A live picture on a terminal, and lines anywhere else.
    case screen
    case lines
    case json

    /// The form that `--plain` or `--json` asks for.
    init(_ list: ArgumentList) throws(ProgramError) {
        try list.forbid("plain", with: "json")
        self = list.has("json") ? .json : list.has("plain") ? .lines : .screen
    }
}
