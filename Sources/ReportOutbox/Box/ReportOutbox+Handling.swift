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

    /// Tells the box whether a network is available, and what speaks against using it.
    ///
    /// Without one, the box sends nothing and spends no attempts. When it comes back, everything that waited for it is tried. Under
    /// conditions, reports wait that the settings do not want to be sent then; see ``OutboxSettings/leastPriorityWhenMetered``. What is being
    /// sent goes on.
    public func networkIsAvailable(_ isAvailable: Bool, conditions: NetworkConditions = []) {
        let (isNews, isBack) = engine.shared.withLock { shared in
            let isBack = isAvailable && shared.box.isOffline
            let isNews = shared.box.isOffline == isAvailable || shared.box.conditions != conditions
            shared.box.isOffline = !isAvailable
            shared.box.conditions = conditions
            return (isNews, isBack)
        }
        guard isNews else { return }
        if isBack { engine.hurryAfterMisses() } else { engine.schedulePump() }
    }

    /// Says whether the user lets reports be sent.
    ///
    /// ```swift
    /// var settings = OutboxSettings()
    /// settings.consent = .pending
    /// let outbox = try ReportOutbox(directory: url, chain: chain, settings: settings)
    /// outbox.setConsent(.given)
    /// ```
    ///
    /// - When it is given, what was held is sent.
    /// - While it is pending, reports are taken in and none is sent; attempts that are under way are stopped, and do not count.
    /// - When it is denied, everything is deleted before this returns, and told as lost with ``ReportLoss/withoutConsent``. A report
    ///   that is being sent is stopped, and deleted when that has ended. Submissions fail with ``OutboxError/Code/consent``.
    ///
    /// When this returns, no attempt begins any more, and every one that had begun was cancelled. What the server has received by then,
    /// it has.
    ///
    /// A file that a ``ReportLocationProvider`` keeps outside the box is the app's to delete: the box deletes what it knows of the
    /// report, and calls `release(_:at:delivered:)` with `delivered` false.
    ///
    /// An upload that goes on without the app is not stopped; reset the chain for that.
    public func setConsent(_ consent: ReportConsent) {
        engine.setConsent(consent)
    }

    /// Puts a report that was set aside back into the box, as one that was submitted now.
    ///
    /// - Throws: ``OutboxError/Code/unknownReport`` if none of that identifier was set aside, or one is in the box;
    ///   ``OutboxError/Code/boxFull`` if the box has no room for it.
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
