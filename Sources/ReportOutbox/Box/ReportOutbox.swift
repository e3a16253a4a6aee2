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
            throw Self.unusable(error)
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
            let place = try BoxPlace.take(in: files, whenInUse: settings.whenInUse)
            guard let place else {
                throw FileFailure("locked", ReportStore.lockName, code: 0)
            }
            let store = ReportStore(files: place.files, durability: settings.durability, seal: settings.seal)
            let scan = try store.scan()
            engine = BoxEngine(
                store, ownership: place.ownership, chain: chain, settings: settings, existing: existing,
                onEvent: onEvent)
            engine.launch(scan, sends: startsSending)
        } catch {
            if error.code == 0 { throw Self.inUse }
            throw Self.unusable(error)
        }
    }

    private static let inUse = OutboxError(
        .inUse,
        """
        Another box has this directory, in this process or in another; use one box for a directory, or let the settings' \
        whenInUse be ownBox.
        """)

    private static func unusable(_ failure: FileFailure) -> OutboxError {
        OutboxError(failure.isDiskFull ? .diskFull : .directory, "The box cannot be opened: \(failure).")
    }

    deinit { engine.stop() }

    /// Waits until all work is done that needs no timer; attempts may still be under way.
    package func drain() { engine.drain() }
}
