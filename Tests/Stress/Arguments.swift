/// The program's arguments.
struct Arguments {
    var tasks = 5_200_000
    var seed = UInt64.random(in: 1...999_999)
    var threads = 8
    /// After how many seconds without any progress the run fails.
    var patience = 60
    var kinds = Kind.all
    var program: Program?
    /// What to list, instead of running anything: kinds or programs.
    var list: [String]?
    var seconds = 2
    /// Whether only the owner of a task changes its request, as the rules say.
    var isOrderly = false

    struct Problem: Error {
        let sentence: String
    }

    static func parse(_ words: some Sequence<String>) -> Result<Arguments, Problem> {
        var arguments = Arguments()
        var kinds: [Kind] = []
        var words = Array(words)[...]
        while let word = words.popFirst() {
            guard word != "--orderly" else {
                arguments.isOrderly = true
                continue
            }
            guard let value = words.popFirst() else { return .failure(Problem(sentence: "\(word) needs a value")) }
            let number = Int(value).flatMap { $0 > 0 ? $0 : nil }
            switch (word, number) {
            case ("--tasks", let number?): arguments.tasks = number
            case ("--seed", let number?): arguments.seed = UInt64(number)
            case ("--threads", let number?): arguments.threads = number
            case ("--patience", let number?): arguments.patience = number
            case ("--seconds", let number?): arguments.seconds = number
            case ("--kind", _):
                guard let kind = Kind.all.first(where: { $0.name == value }) else {
                    let names = Kind.all.map(\.name).joined(separator: ", ")
                    return .failure(Problem(sentence: "there is no kind '\(value)'; there are: \(names)"))
                }
                kinds.append(kind)
            case ("--list", _):
                switch value {
                case "kinds": arguments.list = Kind.all.map(\.name)
                case "programs": arguments.list = Program.all.map(\.name)
                default: return .failure(Problem(sentence: "there are lists of kinds and of programs"))
                }
            case ("--program", _):
                guard let program = Program.all.first(where: { $0.name == value }) else {
                    let names = Program.all.map(\.name).joined(separator: ", ")
                    return .failure(Problem(sentence: "there is no program '\(value)'; there are: \(names)"))
                }
                arguments.program = program
            case ("--tasks", nil), ("--seed", nil), ("--threads", nil), ("--patience", nil), ("--seconds", nil):
                return .failure(Problem(sentence: "\(word) is followed by a number above 0, not by '\(value)'"))
            default:
                return .failure(Problem(sentence: "there is no option '\(word)'"))
            }
        }
        if !kinds.isEmpty { arguments.kinds = kinds }
        return .success(arguments)
    }
}
