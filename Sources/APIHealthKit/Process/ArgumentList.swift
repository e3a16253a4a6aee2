// Process: the process around a command: arguments, streams, signals, exit statuses and errors. Depends on Screen;
// everything but Screen may use it.

/// The parsed arguments of a command, whose values are still text.
struct ArgumentList: Sendable {
    let syntax: Syntax
    /// The values of each option that was given; empty for a flag.
    var values: [String: [String]] = [:]
    var operands: [String] = []
    /// The environment of the program, for options that name a variable.
    var environment: [String: String] = [:]

    init(of syntax: Syntax) { self.syntax = syntax }

    func has(_ name: String) -> Bool { values[name] != nil }

    func text(_ name: String) -> String? { values[name]?.last }

    func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// The option as a whole number; nil if it was not given.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(ProgramError) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let limits =
                range.upperBound == .max
                ? "a whole number from \(range.lowerBound) on"
                : "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw wrong(name, text, limits)
        }
        return number
    }

    /// The option as a duration; nil if it was not given.
    func duration(_ name: String, in range: ClosedRange<Duration>) throws(ProgramError) -> Duration? {
        guard let text = text(name) else { return nil }
        guard let duration = DurationText.parse(text) else {
            throw wrong(name, text, "a duration such as 500ms, 5s, 2m or 1h")
        }
        guard range.contains(duration) else {
            let limits = "\(DurationText.setting(range.lowerBound)) to \(DurationText.setting(range.upperBound))"
            throw wrong(name, text, "a duration from \(limits)")
        }
        return duration
    }

    /// The value of the environment variable that the option names, which no message shows; nil if the option was not given.
    func secret(_ name: String) throws(ProgramError) -> String? {
        guard let variable = text(name) else { return nil }
        guard let value = environment[variable], !value.isEmpty else {
            throw ProgramError(
                .usage, "--\(name) names the environment variable \(Plain.text(variable)), which is not set; set it")
        }
        guard !value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw ProgramError(.usage, "\(Plain.text(variable)) has a control character; set it to the token alone")
        }
        return value
    }

    func forbid(_ first: String, with second: String) throws(ProgramError) {
        guard has(first), has(second) else { return }
        throw ProgramError(.usage, "--\(first) and --\(second) cannot be combined; give one of them")
    }

    func wrong(_ name: String, _ value: String, _ expected: String) -> ProgramError {
        ProgramError(.usage, "--\(name) cannot be “\(Plain.text(value))”; give \(expected)")
    }
}

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
