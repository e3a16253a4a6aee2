/// Sends each task down one of several branches, by what an option of its request says.
///
/// All branches go on with the loader that is linked after this one, so that they differ only in what they add:
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
/// Here `.basic` goes `throttle --> basicAuth --> terminal`, and what has no branch goes straight to the terminal. A
/// branch may be a chain of several loaders, and one may serve several values. A loader with nothing after it becomes
/// part of the composite for good: it cannot end another chain as well.
///
/// Put it where the branches belong. What they have in common stands above it or below it, not in each of them.
public final class Choose<Option: HTTPRequestOption>: HTTPLoader, @unchecked Sendable where Option.Value: Hashable {
    private let branchesByValue: [Option.Value: HTTPLoader]
    private let otherwise: HTTPLoader?
    private let labels: [(label: String, branch: HTTPLoader)]
    /// Where the branches end, and from where they go on to the next loader.
    private let meetingPoint = MeetingPoint()

    /// Makes a loader that chooses among `branches`.
    ///
    /// - Parameters:
    ///   - option: whose value decides.
    ///   - branches: the branch for each value.
    ///   - otherwise: the branch for all other values; nil for straight on.
    public init(
        by option: Option.Type, _ branches: [Option.Value: HTTPLoader], otherwise: HTTPLoader? = nil
    ) {
        branchesByValue = branches
        self.otherwise = otherwise
        let named = branches.map { (label: Self.label(of: $0.key), branch: $0.value) }
        labels = named.sorted { $0.label < $1.label } + [otherwise].compactMap(\.self).map { ("otherwise", $0) }
        super.init()
        for (_, branch) in labels {
            let end = branch.tail
            // One that serves several values is linked once.
            if end !== meetingPoint { end.nextLoader = meetingPoint }
        }
    }

    /// Sends the task down its branch.
    public override func load(task: HTTPTask) {
        let value = task.request[option: Option.self]
        guard let branch = branchesByValue[value] ?? otherwise else { return super.load(task: task) }
        if branch.accept(task) { branch.load(task: task) }
    }

    /// The loaders that the branches begin with.
    public override var branches: [HTTPLoader] { labels.map(\.branch) }

    /// Its name without the option's.
    public override var name: String { "Choose" }

    /// Each branch with the value that it is for; an ellipsis stands for the loaders after this one.
    public override var details: String {
        let texts = labels.map { "\($0.label): \(text(of: $0.branch))" }
        return (texts + (otherwise == nil ? ["otherwise: …"] : [])).joined(separator: ", ")
    }

    override func didLink(to next: HTTPLoader) {
        meetingPoint.nextLoader = next
    }

    private func text(of branch: HTTPLoader) -> String {
        var texts: [String] = []
        var loader: HTTPLoader? = branch
        while let described = loader, described !== meetingPoint {
            texts.append(described.ownDescription)
            loader = described.nextLoader
        }
        return (texts + ["…"]).joined(separator: " --> ")
    }

    /// The value as text, without a word about its being optional.
    private static func label(of value: Option.Value) -> String {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return "\(value)" }
        return mirror.children.first.map { "\($0.value)" } ?? "none"
    }
}

/// Passes everything on, in the name of the composite that it belongs to.
///
/// It has a reference to the next loader of its own, so that it needs none to the composite, which would be a cycle.
private final class MeetingPoint: HTTPLoader, @unchecked Sendable {
    override var name: String { "Choose" }
}
