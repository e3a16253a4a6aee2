import LoaderChain
import LoaderChainPlatformFoundation

// MARK: Handling

extension ReportOutbox {
    /// Starts sending, for a box that was opened with `startsSending: false`.
    public func startSending() {
        engine.shared.withLock { $0.box.isRunning = true }
        engine.schedulePump()
    }

    /// Makes everything due now, for example when the connection is back, the user asks, or the app is about to end.
    ///
    /// This also ends waits that a server asked for. A report that fails again waits again.
    public func tryNow() {
        engine.hurry()
    }

    /// Tells the box whether a network is available.
    ///
    /// Without one, the box sends nothing and spends no attempts. When it comes back, everything that waited for it is tried.
    public func networkIsAvailable(_ isAvailable: Bool) {
        let isNews = engine.shared.withLock { shared in
            defer { shared.box.isOffline = !isAvailable }
            return shared.box.isOffline == isAvailable
        }
        guard isNews else { return }
        if isAvailable { engine.hurryAfterMisses() } else { engine.schedulePump() }
    }

    /// Puts a report that was set aside back into the box, as one that was submitted now.
    ///
    /// - Throws: ``OutboxError/Code/unknownReport`` if none of that identifier was set aside, or one is in the box.
    public func retry(_ id: ReportID) throws(OutboxError) {
        try engine.takeBack(id)
    }

    /// Removes a report, whether it waits or was set aside.
    ///
    /// One that is being sent stays.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func purge(_ id: ReportID) -> Bool {
        engine.purge(id)
    }

    /// Removes every report that is not being sent, and everything that was set aside.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func purgeAll() -> Int {
        let ids = reports.map(\.id) + reportsSetAside.map(\.id)
        return ids.count { purge($0) }
    }

    /// Settles a report by a result that came another way, such as an upload that went on while the app was not running.
    ///
    /// Call it before sending starts, so that the report is not sent again.
    ///
    /// - Returns: whether the report was in the box and waited.
    @discardableResult
    public func settle(_ id: ReportID, with result: HTTPResult) -> Bool {
        engine.settle(id, with: result)
    }

    /// Stops sending, cancels what is being sent, and returns when the directory is free for another box.
    ///
    /// Everything that has not been delivered stays for the next launch.
    public func close() async {
        engine.stop()
        await engine.waitUntilStopped()
    }
}
