// Box: the outbox itself, and the engine that carries out what its state decides. It may use every other folder but Apple.

import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Keeps what must arrive, such as crash reports, on the disk until it was delivered.
///
/// Bytes go in, and leave the disk only when they were delivered or given up for a reason.
///
/// ```swift
/// let outbox = try ReportOutbox(directory: url, chain: chain)
/// let id = try outbox.submit(data, request: request)
/// print("\(id) will arrive")
/// ```
///
/// You can rely on this:
/// - When a submission returns, the report survives the end of the process, however that comes; with
///   ``OutboxSettings/Durability-swift.enum/fsync``, a loss of power too.
/// - Reports of earlier launches are found when the box opens, and sent without being asked, the oldest first.
/// - A report arrives at least once. Every attempt carries the same `Idempotency-Key`, so that a server can tell when it was
///   more than once.
/// - No report is lost silently: one that is not delivered is set aside or dropped for a reason, which is told and counted.
/// - A report that was not written in full is never sent, and one that was damaged since is set aside.
/// - A report that fails goes behind the others. One that crashes the process is set aside after its attempts.
///
/// A report is sent through a chain of loaders, which adds what the box never writes down, above all authorization. Its bytes
/// are read from the disk while they are sent.
///
/// A box lives as long as you hold it. Opening another one for the same directory meanwhile fails with an error.
///
/// It has its module's name because that is what its users call it; no other public type's name is so common that it would have
/// to be written with the module's before it.
public final class ReportOutbox: Sendable {
    let engine: BoxEngine

    /// Opens a box, and takes in what its directory contains.
    ///
    /// - Parameters:
    ///   - directory: where the box is; it is created, for this user alone, if it is missing.
    ///   - chain: what the reports are sent through.
    ///   - settings: how much the box holds, for how long, and how it sends.
    ///   - startsSending: whether sending starts at once; otherwise it starts with ``startSending()``.
    ///   - existing: decides about each report of an earlier launch before any is sent.
    /// - Throws: ``OutboxError/Code/inUse`` if another box has the directory, ``OutboxError/Code/directory`` if it cannot be
    ///   used.
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
        FolderProtection.afterFirstUnlock.apply(to: directory)
        try self.init(files: files, chain: chain, settings: settings, startsSending: startsSending, existing: existing)
    }

    /// Opens a box on any directory, for tests; `onEvent` hears each event at once.
    package init(
        files: any Directory, chain: HTTPLoader, settings: OutboxSettings = OutboxSettings(),
        startsSending: Bool = true,
        existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)? = nil,
        onEvent: (@Sendable (ReportEvent) -> Void)? = nil
    ) throws(OutboxError) {
        do throws(FileFailure) {
            let place = try BoxPlace(in: files, whenInUse: settings.whenInUse)
            let store = ReportStore(files: place.files, durability: settings.durability, seal: settings.seal)
            let scan = try store.scan()
            engine = BoxEngine(
                store, ownership: place.ownership, chain: chain, settings: settings, existing: existing,
                onEvent: onEvent)
            engine.launch(scan, sends: startsSending)
        } catch {
            throw OutboxError(opening: error)
        }
    }

    deinit { engine.stop() }

    /// Waits until all work is done that needs no timer; attempts may still be under way.
    package func drain() { engine.drain() }
}

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

// MARK: Watching

extension ReportOutbox {
    /// A stream of what happens from now on, for one listener; each call returns another one.
    ///
    /// The first to ask also hears what has happened since the box was opened. A stream keeps 1,000 events for a listener that
    /// is slower than the box, and then lets go of the oldest; ``counters`` count all of them. It ends with the box.
    public var events: AsyncStream<ReportEvent> { engine.listeners.stream() }

    /// Counts of what became of reports since the box was opened.
    public var counters: OutboxCounters { engine.shared.withLock { $0.counters } }

    /// Whether the user lets reports be sent, as far as the box was told.
    public var consent: ReportConsent { engine.shared.withLock { $0.box.consent } }

    /// How many reports are in the box.
    public var count: Int { engine.shared.withLock { $0.box.count } }

    /// How many bytes the reports in the box have.
    public var bytes: Int64 { engine.shared.withLock { $0.box.bytes } }

    /// The reports in the box, in the order of submission.
    public var reports: [ReportSummary] {
        engine.shared.withLock { $0.box.entries }.map { ReportSummary($0) }
    }

    /// The reports that were set aside, in the order of submission.
    public var reportsSetAside: [ReportSummary] {
        engine.shared.withLock { $0.aside.reports }.map { ReportSummary($0) }
    }
}

extension ReportOutbox: CustomStringConvertible {
    /// How many reports there are and how many are being sent.
    public var description: String {
        engine.shared.withLock {
            "ReportOutbox(\($0.box.count) reports, \($0.box.inFlight) being sent, \($0.aside.reports.count) set aside)"
        }
    }
}

/// Where a box is, and its lock.
private struct BoxPlace {
    let files: any Directory
    /// The lock, for as long as it is held.
    let ownership: any Sendable

    /// How many processes can have boxes of their own in one directory.
    private static let mostOwnBoxes = 64

    /// Takes a directory, or a box of one's own within it.
    init(in directory: any Directory, whenInUse: OutboxSettings.WhenInUse) throws(FileFailure) {
        do throws(FileFailure) {
            (ownership, files) = (try directory.take(), directory)
            return
        } catch {
            guard error.isInUse, whenInUse == .ownBox else { throw error }
        }
        for number in 1...Self.mostOwnBoxes {
            let own: any Directory
            do throws(FileFailure) { own = try directory.folder(StoreScan.ownBox(number)) } catch {
                // A foreign file has this name.
                if error.isNoFolder { continue }
                throw error
            }
            guard let lock = try own.lock(FileFailure.lockName) else { continue }
            (ownership, files) = (lock, own)
            return
        }
        throw FileFailure.inUse
    }
}
