// Outbox: the outbox itself, and the engine that carries out the decisions of its state. It may use every other folder but Apple.

import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Stores reports that must arrive, such as crash reports, on disk until they are delivered.
///
/// A report is removed from the disk only after it was delivered, or given up for a reason.
///
/// ```swift
/// let outbox = try ReportOutbox(directory: url, chain: chain)
/// let id = try outbox.submit(data, request: request)
/// print("\(id) will arrive")
/// ```
///
/// Guarantees:
/// - When `submit` returns, the report survives the end of the process, for any reason; with
///   ``OutboxSettings/Durability-swift.enum/fsync``, also a power failure.
/// - When an outbox opens, it finds the reports of earlier launches, and sends them automatically, the oldest first.
/// - Delivery is at least once. Every attempt has the same `Idempotency-Key`, so that a server can recognize a repetition.
/// - No report is lost silently. A report that is not delivered becomes a dead letter or is dropped, with an event, a reason and a
///   count.
/// - A report that was not completely written is never sent, and a report that was damaged later becomes a dead letter.
/// - A report that fails is sent after the others that are due. A report that crashes the process becomes a dead letter once it has
///   used up its attempts.
///
/// Reports are sent through a chain of loaders. The chain adds what the outbox never stores, above all authorization. The bytes
/// of a report are read from disk while they are sent.
///
/// An outbox lives as long as you hold it. Meanwhile, opening another outbox in the same directory fails with an error.
public final class ReportOutbox: Sendable {
    let engine: OutboxEngine

    /// Opens an outbox, and loads the reports in its directory.
    ///
    /// - Parameters:
    ///   - directory: the directory of the outbox; if missing, it is created, accessible to this user alone.
    ///   - chain: the chain that sends the reports.
    ///   - settings: the settings of the outbox.
    ///   - startsSending: whether to start sending immediately; otherwise call ``startSending()``.
    ///   - existing: a closure that decides about each report of an earlier launch before any of them is sent.
    /// - Throws: ``OutboxError/Code/inUse`` if another outbox uses the directory, ``OutboxError/Code/diskFull`` if there is no room
    ///   for it, ``OutboxError/Code/directory`` if it cannot be used.
    public convenience init(
        directory: URL, chain: HTTPLoader, settings: OutboxSettings = OutboxSettings(), startsSending: Bool = true,
        existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)? = nil
    ) throws(OutboxError) {
        let files: SystemDirectory
        do throws(FileFailure) {
            files = try SystemDirectory(directory)
        } catch {
            throw OutboxError(opening: error)
        }
        SystemDirectory.protect(directory)
        try self.init(files: files, chain: chain, settings: settings, startsSending: startsSending, existing: existing)
    }

    /// Opens an outbox in any directory, for tests; `onEvent` is called immediately with each event.
    package init(
        files: any Directory, chain: HTTPLoader, settings: OutboxSettings = OutboxSettings(),
        startsSending: Bool = true,
        existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)? = nil,
        onEvent: (@Sendable (ReportEvent) -> Void)? = nil
    ) throws(OutboxError) {
        do throws(FileFailure) {
            let ownership = try files.takeOwnership()
            let store = ReportStore(files: files, durability: settings.durability, seal: settings.seal)
            let scan = try store.scan()
            engine = OutboxEngine(
                store, ownership: ownership, chain: chain, settings: settings, existing: existing, onEvent: onEvent)
            engine.launch(scan, sends: startsSending)
        } catch {
            throw OutboxError(opening: error)
        }
    }

    deinit { engine.stop() }

    /// Waits for all work that does not depend on a timer; attempts may still be under way.
    package func drain() { engine.drain() }
}

// MARK: Handling

extension ReportOutbox {
    /// Starts sending, if the outbox was opened with `startsSending: false`.
    public func startSending() {
        engine.shared.withLock { $0.outbox.isRunning = true }
        engine.schedulePump()
    }

    /// Retries all waiting reports now, for example because the connection is back, the user asked for it, or the app is about to
    /// end.
    ///
    /// This also ends the waits that servers asked for. A report that fails again waits again.
    public func sendNow() {
        engine.hurry()
    }

    /// Sets whether a network is available, and the reasons to send little over it.
    ///
    /// Without a network, the outbox sends nothing and uses up no attempts. When the network is back, it retries all reports that
    /// could not be sent without it. Under some conditions, the settings let only important reports be sent; see
    /// ``OutboxSettings/leastPriorityWhenMetered``. Attempts that are under way continue.
    public func setNetwork(isAvailable: Bool, conditions: NetworkConditions = []) {
        let (isNews, isBack) = engine.shared.withLock { shared in
            let isBack = isAvailable && shared.outbox.isOffline
            let isNews = shared.outbox.isOffline == isAvailable || shared.outbox.conditions != conditions
            shared.outbox.isOffline = !isAvailable
            shared.outbox.conditions = conditions
            return (isNews, isBack)
        }
        guard isNews else { return }
        if isBack { engine.hurryAfterMisses() } else { engine.schedulePump() }
    }

    /// Sets the user's consent to sending reports.
    ///
    /// ```swift
    /// var settings = OutboxSettings()
    /// settings.consent = .pending
    /// let outbox = try ReportOutbox(directory: url, chain: chain, settings: settings)
    /// outbox.setConsent(.given)
    /// ```
    ///
    /// - If it is given, the stored reports are sent.
    /// - While it is pending, reports are accepted and none is sent; attempts that are under way are stopped, and do not count.
    /// - If it is denied, all reports are deleted before this method returns, with ``ReportLoss/withoutConsent``. A report that
    ///   is being sent is stopped, and deleted when its attempt has ended. Submissions fail with ``OutboxError/Code/consent``.
    ///
    /// Unless consent is given, no attempt starts after this method has returned, and all attempts that had started are
    /// cancelled. A server may have received some of them already.
    ///
    /// The outbox does not delete files that a ``ReportLocationProvider`` keeps outside of it. It deletes its own data of the
    /// report, and calls `release(_:at:delivered:)` with `delivered` false.
    ///
    /// An upload that continues without the app is not stopped; reset the chain to stop it.
    public func setConsent(_ consent: ReportConsent) {
        engine.setConsent(consent)
    }

    /// Returns a dead letter to the outbox, as a report that was submitted now.
    ///
    /// - Throws: ``OutboxError/Code/unknownReport`` if no dead letter has the identifier, or a report in the outbox has it;
    ///   ``OutboxError/Code/full`` if the outbox has reached a limit.
    public func retry(_ id: ReportID) throws(OutboxError) {
        try engine.retry(id)
    }

    /// Removes a waiting report, or a dead letter.
    ///
    /// A report that is being sent is not removed.
    ///
    /// - Returns: whether a report was removed.
    @discardableResult
    public func purge(_ id: ReportID) -> Bool {
        engine.purge(id)
    }

    /// Removes every report that is not being sent, and every dead letter.
    ///
    /// - Returns: the number of removed reports.
    @discardableResult
    public func purgeAll() -> Int {
        let ids = reports.map(\.id) + deadLetters.map(\.id)
        return ids.count { purge($0) }
    }

    /// Stops sending, cancels all attempts, and returns when another outbox can open the directory.
    ///
    /// Reports that have not been delivered remain for the next launch.
    public func close() async {
        engine.stop()
        await engine.waitUntilStopped()
    }
}

// MARK: Watching

extension ReportOutbox {
    /// A new stream of the events from now on, for one listener.
    ///
    /// The first stream starts with the events since the outbox was opened. A stream buffers 1,000 events for a slow listener,
    /// and then drops the oldest; ``counters`` count all of them. It ends when the outbox is closed.
    public var events: AsyncStream<ReportEvent> { engine.listeners.stream() }

    /// Counts of events since the outbox was opened.
    public var counters: OutboxCounters { engine.shared.withLock { $0.counters } }

    /// The user's consent, as set last.
    public var consent: ReportConsent { engine.shared.withLock { $0.outbox.consent } }

    /// The number of reports in the outbox, without dead letters.
    public var count: Int { engine.shared.withLock { $0.outbox.count } }

    /// The total size of the reports in the outbox, in bytes.
    public var bytes: Int64 { engine.shared.withLock { $0.outbox.bytes } }

    /// The reports in the outbox, in the order of submission.
    public var reports: [ReportSummary] {
        engine.shared.withLock { $0.outbox.entries }.map { ReportSummary($0) }
    }

    /// The dead letters, in the order of submission.
    public var deadLetters: [ReportSummary] {
        engine.shared.withLock { $0.deadLetters.reports }.map { ReportSummary($0) }
    }
}

extension ReportOutbox: CustomStringConvertible {
    /// The numbers of reports, of reports that are being sent, and of dead letters.
    public var description: String {
        engine.shared.withLock {
            "ReportOutbox(\($0.outbox.count) reports, \($0.outbox.inFlight) being sent, \($0.deadLetters.reports.count) dead letters)"
        }
    }
}
