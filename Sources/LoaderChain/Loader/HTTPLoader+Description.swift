extension HTTPLoader: CustomStringConvertible {
    /// The chain from this loader on, in order, with the settings and live counts of each.
    ///
    /// `ResetGuard --> Throttle(limit 4, running 2, waiting 10) --> URLSessionLoader`
    public final var description: String {
        descriptions(before: nil).joined(separator: " --> ")
    }

    /// The chain from this loader up to `end`, for which an ellipsis stands if the chain leads there.
    ///
    /// A composite describes its branches with it, each up to the point where they meet.
    public final func description(before end: HTTPLoader) -> String {
        descriptions(before: end).joined(separator: " --> ")
    }

    private final func descriptions(before end: HTTPLoader?) -> [String] {
        var texts: [String] = []
        var loader: HTTPLoader? = self
        while let described = loader {
            if described === end { return texts + ["…"] }
            texts.append(described.ownDescription)
            loader = described.nextLoader
        }
        return texts
    }

    /// The loader alone, with its settings and live counts.
    private final var ownDescription: String {
        let details = details
        return details.isEmpty ? name : "\(name)(\(details))"
    }
}
