import LoaderChainPlatformFoundation

/// The error of a reset that took longer than it may, with the loaders that have not finished.
public struct ResetTimedOut: Error, Sendable {
    /// How long the reset was allowed to take.
    public let limit: Duration
    /// The loaders that have not finished, in the order in which the reset reached them.
    ///
    /// Several loaders may wait for the same task; the last one is often the one that keeps it.
    public let unfinished: [Unfinished]
    /// The names of the loaders that were not reset, as one before them has not returned from its own reset.
    public let unreached: [String]

    /// A loader that has not finished its reset.
    public struct Unfinished: Sendable {
        /// The name of the loader.
        public let loader: String
        /// The settings and live counts of the loader, as in its description; empty if it has none.
        public let details: String
        /// The tasks that the loader waits for, as far as it tells, each with the loader that has it in its description.
        public let tasks: [HTTPTask]

        init(_ loader: HTTPLoader) {
            self.loader = loader.name
            details = loader.details
            tasks = (loader as? any TaskHolder)?.heldTasks.flatMap(\.runningAttempts) ?? []
        }
    }
}

/// A loader that can tell which tasks it waits for.
protocol TaskHolder {
    /// The tasks that have not ended.
    var heldTasks: [HTTPTask] { get }
}

extension HTTPTask {
    /// The attempts that run for this task, or the task itself if there are none.
    fileprivate var runningAttempts: [HTTPTask] {
        let attempts = core.withState { state, _ in state.attempts.all }
        return attempts.isEmpty ? [self] : attempts.flatMap { HTTPTask(for: $0).runningAttempts }
    }
}

extension ResetTimedOut: CustomStringConvertible, LocalizedError {
    /// The limit, the loaders that have not finished, and those that were not reset; no secrets.
    public var description: String {
        let who = unfinished.map(\.description).joined(separator: "; ")
        let rest = unreached.isEmpty ? "" : "; not reset: " + unreached.joined(separator: ", ")
        return "The reset was not finished after \(limit)" + (who.isEmpty ? "" : ": \(who)") + rest
    }

    /// The description.
    public var errorDescription: String? { description }
}

extension ResetTimedOut.Unfinished: CustomStringConvertible {
    /// The loader, and the first of its tasks.
    public var description: String {
        let text = details.isEmpty ? loader : "\(loader)(\(details))"
        guard !tasks.isEmpty else { return text }
        let mostNamed = 3
        let named = tasks.prefix(mostNamed).map(\.description).joined(separator: ", ")
        return "\(text) waits for \(named)" + (tasks.count > mostNamed ? " and \(tasks.count - mostNamed) more" : "")
    }
}
