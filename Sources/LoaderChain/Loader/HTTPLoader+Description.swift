extension HTTPLoader: CustomStringConvertible {
    /// The chain from this loader on, in order, with the settings and live counts of each.
    ///
    /// `ResetGuard --> Throttle(limit 4, running 2, waiting 10) --> URLSessionLoader`
    public final var description: String {
        var texts: [String] = []
        var loader: HTTPLoader? = self
        while let described = loader {
            texts.append(described.ownDescription)
            loader = described.nextLoader
        }
        return texts.joined(separator: " --> ")
    }

    /// The loader alone, with its settings and live counts.
    final var ownDescription: String {
        let details = details
        return details.isEmpty ? name : "\(name)(\(details))"
    }
}
