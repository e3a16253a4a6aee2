/// Sends each task down one of several branches, as an option of its request says.
///
/// All branches continue with the loader that is linked after this one, so that they differ only in what they add:
///
/// ```swift
/// enum AuthenticationOption: HTTPRequestOption {
///     static var defaultOptionValue: AuthenticationOption { .none }
///     case none, basic, bearer
/// }
///
/// let authenticate = Choose(by: AuthenticationOption.self, [.basic: basicAuth, .bearer: bearerAuth])
/// let chain = throttle --> authenticate --> terminal
/// ```
///
/// Here `.basic` goes `throttle --> basicAuth --> terminal`, and values without a branch go straight to the terminal. A
/// branch may be a chain of several loaders, and may serve several values. The last loader of a branch is linked for
/// good: it cannot end another chain. Only a branch that ends with a terminal of its own does not continue here.
///
/// Put it where the branches belong, and the loaders that they share above it or below it.
public final class Choose<Option: HTTPRequestOption>: HTTPLoader, @unchecked Sendable where Option.Value: Hashable {
    private let branchesByValue: [Option.Value: HTTPLoader]
    private let otherwise: HTTPLoader?
    private let labels: [(label: String, branch: HTTPLoader)]
    /// The end of all branches, which leads to the next loader.
    private let branchEnd = BranchEnd(of: "Choose")

    /// Makes a loader that chooses among `branches`.
    ///
    /// - Parameters:
    ///   - option: the option whose value decides.
    ///   - branches: the branch for each value.
    ///   - otherwise: the branch for all other values; nil for the next loader.
    public init(by option: Option.Type, _ branches: [Option.Value: HTTPLoader], otherwise: HTTPLoader? = nil) {
        branchesByValue = branches
        self.otherwise = otherwise
        let named = branches.map { (label: Self.label(of: $0.key), branch: $0.value) }
        labels = named.sorted { $0.label < $1.label } + [otherwise].compactMap(\.self).map { ("otherwise", $0) }
        super.init()
        for (_, branch) in labels {
            let end = branch.tail
            // A branch that serves several values is linked once, and one with a terminal of its own never.
            if end !== branchEnd, !end.isTerminal { end.nextLoader = branchEnd }
        }
    }

    public override func load(task: HTTPTask) {
        let value = task.request[option: Option.self]
        guard let branch = branchesByValue[value] ?? otherwise else { return super.load(task: task) }
        if branch.accept(task) { branch.load(task: task) }
    }

    public override var branches: [HTTPLoader] { labels.map(\.branch) }

    /// Its name without the option's.
    public override var name: String { "Choose" }

    /// Each branch with its value; an ellipsis stands for the loaders after this one, if the branch continues there.
    public override var details: String {
        let texts = labels.map { "\($0.label): \($0.branch.description(before: branchEnd))" }
        return (texts + (otherwise == nil ? ["otherwise: …"] : [])).joined(separator: ", ")
    }

    public override func didLink(to next: HTTPLoader) {
        branchEnd.nextLoader = next
    }

    /// The value as text, without `Optional(…)`.
    private static func label(of value: Option.Value) -> String {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return "\(value)" }
        return mirror.children.first.map { "\($0.value)" } ?? "none"
    }
}
