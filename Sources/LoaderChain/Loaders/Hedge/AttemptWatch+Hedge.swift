extension AttemptWatch {
    /// Makes a watch for a hedge that stands above a ``Retry``, so that it hears of each response that pushes back.
    ///
    /// ```swift
    /// let hedge = Hedge()
    /// let chain =
    ///     hedge --> Retry(strategy: Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 3))
    ///     --> AttemptWatch(hedge) --> terminal
    /// ```
    ///
    /// Without a watch, the hedge hears what comes of all attempts together, and a 503 that the retry has got over
    /// is hidden from it.
    public convenience init(_ hedge: Hedge) { self.init(for: hedge.desk) }
}

extension HedgeDesk: AttemptWatcher {
    func watchAttempt(_ task: HTTPTask) { task.addObserver(self) }
}
