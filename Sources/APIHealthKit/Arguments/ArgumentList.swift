/// The arguments of a command, taken apart and not yet understood.
struct ArgumentList: Sendable {
    let syntax: Syntax
    /// The values of each option that was given; none for one that takes none.
    var values: [String: [String]] = [:]
    /// What is no option.
    var operands: [String] = []

    init(of syntax: Syntax) { self.syntax = syntax }

    /// Whether an option was given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of an option, or nil.
    func text(_ name: String) -> String? { values[name]?.last }

    /// All values of an option.
    func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// A whole number, or nil if the option was not given.
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

    /// A duration, or nil if the option was not given.
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

    /// Two options that contradict each other.
    func forbid(_ first: String, with second: String) throws(ProgramError) {
        guard has(first), has(second) else { return }
        throw ProgramError(.usage, "--\(first) and --\(second) contradict each other; give one of them")
    }

    /// An error that names the option, its value and what it may be.
    func wrong(_ name: String, _ value: String, _ expected: String) -> ProgramError {
        ProgramError(.usage, "--\(name) cannot be “\(Plain.text(value))”; give \(expected)")
    }
}
