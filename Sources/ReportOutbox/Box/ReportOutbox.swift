import DurableFiles
import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A box on the disk for what must arrive, such as crash reports.
///
/// Bytes go in, and leave the disk only when something definite has become of them.
///
/// ```swift
/// let outbox = try ReportOutbox(directory: url, chain: chain)
/// let id = try outbox.submit(data, request: request)
/// print("\(id) will arrive")
/// ```
///
/// What can be relied on:
/// - When a submission returns, the report survives the end of the process, however that comes; with
///   ``OutboxSettings/Durability-swift.enum/fsync``, a loss of power too.
/// - What earlier launches left is found when the box opens and sent by itself, the oldest first.
/// - A report arrives at least once. Every attempt carries the same `Idempotency-Key`, so that a server can tell when it was
///   more than once.
/// - No report is lost in silence: what is not delivered is set aside or dropped for a reason, which is an event and a count.
/// - What was not written whole is never sent, and what was damaged since is set aside.
/// - One that fails stands behind the others. One that takes the process down with it is set aside after its attempts.
///
/// A report is sent through a chain of loaders, which adds what the box writes down nowhere: authorization above all. Its bytes
/// are read from the disk while they are sent.
///
/// A box lives as long as somebody holds it. Whoever opens one for the same directory meanwhile is told that it is in use.
///
/// It has its module's name because that is what its users call it; no other public type's name is so common that it would have
/// to be written with the module's before it.
public final class ReportOutbox: Sendable {
    let engine: BoxEngine

    /// Opens a box, taking up what is in its directory.
    ///
    /// - Parameters:
    ///   - directory: where it is; it is made if it is not there, for this user alone.
    ///   - chain: what the reports are sent through.
    ///   - settings: how much the box holds, how long, and how it goes about sending.
    ///   - startsSending: whether sending starts at once; otherwise it starts with ``startSending()``.
    ///   - existing: is shown every report that an earlier launch left before any is sent, and says what is to become of it.
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
        #if canImport(Darwin)
            ProtectedDirectory.prepare(directory)
        #endif
        try self.init(files: files, chain: chain, settings: settings, startsSending: startsSending, existing: existing)
    }

    /// Opens a box on any file system, as a test does, which may hear of each event at once.
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

    /// Waits until everything has happened that needs no further time; attempts may still be under way.
    package func drain() { engine.drain() }
}
