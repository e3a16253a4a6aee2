// Uploads: uploads that continue without the app, except for their session, and their messages to an outbox. It may use Coding,
// Reports, Settings and Store.

import Dispatch
import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Runs uploads that continue without the app: the state, its ledger, a session, and a serial queue for events.
///
/// The state decides under the lock. The engine carries the decision out on the queue after unlocking, before it handles the next
/// event. Bytes are copied on the thread that loads.
final class UploadEngine: Sendable {
    private let ledger: UploadLedger
    private let timers: any Timers
    private let loader: String
    private let queue = DispatchQueue(label: "ReportOutbox.BackgroundUploads")
    private let shared: Locked<Shared>
    private let systemCompletion = SystemCompletion()

    /// The time after which an upload that the system does not list counts as lost.
    static let grace = Duration.seconds(60)

    private struct Shared {
        var state: BackgroundUploadState
        var session: (any UploadSession)?
        var tasks: [BackgroundUploadState.Waiter: HTTPTask] = [:]
        /// The requests of uploads whose bytes are stored, and that have not started.
        var prepared: [UploadID: EncodedRequest] = [:]
        var lastWaiter = 0
        /// The lock of the directory.
        let ownership: any Sendable
        /// Blocks on the queue that have not ended.
        var pendingWork = 0
    }

    /// Loads the uploads of a directory, with the session that `makeSession` creates for the engine.
    init(
        files: any Directory, timers: any Timers, loader: String, makeSession: (UploadEngine) -> any UploadSession
    ) throws(OutboxError) {
        self.timers = timers
        self.loader = loader
        ledger = UploadLedger(files: files)
        do throws(FileFailure) {
            let ownership = try files.takeOwnership()
            let records = try ledger.open(now: RecordName.milliseconds(timers.date))
            shared = Locked(Shared(state: BackgroundUploadState(records), ownership: ownership))
        } catch {
            throw OutboxError(opening: error, for: "upload terminal")
        }
        // The session may report events immediately, so the engine must be complete by now.
        let session = makeSession(self)
        shared.withLock { $0.session = session }
        session.uploads { [weak self] listed in self?.handle { $0.restored(listed) } }
    }

    // MARK: Tasks

    /// Loads a task, which joins the upload of its content or starts one.
    func load(_ task: HTTPTask) {
        let spare = UploadID()
        let request: EncodedRequest
        let content: UploadRecord.Content
        let handover = task.request.handover
        do {
            guard let key = task.request.headers["Idempotency-Key"], !key.isEmpty else {
                throw HTTPError(
                    .invalidRequest, request: task.request,
                    reason:
                        "A background upload needs an Idempotency-Key, so that a later launch can recognize it; add one",
                    loader: loader)
            }
            request = try task.request.encoded()
            content = try ledger.writeBody(spare, of: request, key: key)
        } catch {
            task.complete(.failure(failure(of: task.request, error)))
            return
        }
        handover?.take()
        let waiter = shared.withLock { shared in
            shared.lastWaiter += 1
            shared.tasks[shared.lastWaiter] = task
            shared.prepared[spare] = request
            return shared.lastWaiter
        }
        handle { $0.load(waiter, content, spare: spare) }
        // A closed outbox leaves its uploads running; any other cancellation stops them.
        let stops = handover == nil
        task.addCancelHandler { [weak self] in self?.handle { $0.letGo(waiter, stops: stops) } }
    }

    private func failure(of request: HTTPRequest, _ error: any Error) -> HTTPError {
        if let error = error as? HTTPError { return error }
        return HTTPError(
            .unknown, request: request, underlyingError: error,
            reason: "The bytes could not be copied for the background upload", loader: loader)
    }

    /// Stops every upload.
    func reset(done: @escaping @Sendable () -> Void) {
        handle { $0.reset() }
        queue.async(execute: done)
    }

    func finish() { session?.finish() }

    /// The keys of the uploads that continue, or whose answer no task has received.
    var keys: [String] { shared.withLock { $0.state.uploads.values.map(\.content.key) }.sorted() }

    // MARK: The session

    func ended(_ id: UploadID, _ end: UploadEnd) { handle { $0.ended(id, end) } }

    func eventsAreDelivered() { handle { $0.eventsAreDelivered() } }

    /// Stores the system's completion handler, and returns its number if it was stored; calls it at once if the events came just before
    /// it, and soon if no upload is running.
    @MainActor
    @discardableResult
    func whenEventsAreDelivered(_ completion: @escaping () -> Void) -> Int? {
        if systemCompletion.takeOwed(at: timers.now) {
            completion()
            return nil
        }
        let number = systemCompletion.add(completion)
        handle { $0.isQuiet ? [.completeSystemEvents] : [] }
        return number
    }

    /// Returns when a completion handler of the system would be called, or when the Swift task that waits is cancelled.
    @MainActor
    func waitForEvents() async {
        let areDelivered = Awaited(false)
        let number = whenEventsAreDelivered { areDelivered.change { $0 = true } }
        await Self.wait(until: areDelivered)
        // The handler of a wait that was cancelled would be called in place of one that comes later.
        if let number { systemCompletion.remove(number) }
    }

    /// Waits outside of the main actor, whose closures must not leave it.
    private static func wait(until isTrue: Awaited<Bool>) async { await isTrue.wait(until: { $0 }) }

    // MARK: The queue

    private func handle(_ event: @escaping @Sendable (inout BackgroundUploadState) -> [BackgroundUploadState.Action]) {
        shared.withLock { $0.pendingWork += 1 }
        queue.async { [self] in
            for action in shared.withLock({ event(&$0.state) }) { carryOut(action) }
            shared.withLock { $0.pendingWork -= 1 }
        }
    }

    /// Waits until all events are handled.
    func drain() {
        while isBusy { queue.sync {} }
    }

    var isBusy: Bool { shared.withLock { $0.pendingWork > 0 } }

    private func carryOut(_ action: BackgroundUploadState.Action) {
        switch action {
        case .start(let id): start(id)
        case .stop(let id): session?.stop(id)
        case .discard(let id):
            _ = shared.withLock { $0.prepared.removeValue(forKey: id) }
            ledger.discardBody(id)
        case .keep(let id, let end): keep(id, end)
        case .forget(let id): ledger.forget(id)
        case .notifyContinues(let waiter): shared.withLock { $0.tasks[waiter] }?.request.handover?.continues()
        case .complete(let waiter, let id, let end): complete(waiter, id, end)
        case .startGrace:
            timers.schedule(after: Self.grace) { [weak self] in self?.handle { $0.graceIsOver() } }
        case .completeSystemEvents:
            Task { @MainActor [systemCompletion, timers] in systemCompletion.callAll(at: timers.now) }
        }
    }

    private var session: (any UploadSession)? { shared.withLock { $0.session } }

    private func start(_ id: UploadID) {
        let (request, content) = shared.withLock {
            ($0.prepared.removeValue(forKey: id), $0.state.uploads[id]?.content)
        }
        guard let request, let content else { return }
        do throws(FileFailure) {
            try ledger.write(id, record(of: content, answer: nil))
            try session?.start(id, request, bodyIn: UploadLedger.body(id))
        } catch {
            ledger.forget(id)
            let tasks = shared.withLock { shared in
                shared.state.couldNotStart(id).compactMap { shared.tasks.removeValue(forKey: $0) }
            }
            for task in tasks { task.complete(.failure(failure(of: task.request, error))) }
        }
    }

    private func keep(_ id: UploadID, _ end: UploadEnd) {
        guard let content = shared.withLock({ $0.state.uploads[id]?.content }) else { return }
        // If the answer cannot be saved, it is known for the rest of this launch.
        try? ledger.write(id, record(of: content, answer: end))
        ledger.discardBody(id)
    }

    private func record(of content: UploadRecord.Content, answer: UploadEnd?) -> UploadRecord {
        UploadRecord(content: content, written: RecordName.milliseconds(timers.date), answer: answer)
    }

    private func complete(_ waiter: BackgroundUploadState.Waiter, _ id: UploadID, _ end: UploadEnd) {
        guard let task = shared.withLock({ $0.tasks.removeValue(forKey: waiter) }) else { return }
        let request = task.request
        request.handover?.whenKept { [self] in handle { $0.noteKept(id) } }
        task.complete(end.result(for: request, loader: loader))
        if request.handover == nil { handle { $0.noteKept(id) } }
    }
}

/// Performs uploads while the app does not run: a background `URLSession` on Apple systems.
///
/// It calls ``UploadEngine/ended(_:_:)`` once for each upload, perhaps in a later launch, and ``UploadEngine/eventsAreDelivered()``
/// after it has reported all events from the time when the app did not run.
protocol UploadSession: Sendable {
    /// Returns the uploads that have not ended, at any time and on any thread, and resumes those that were not started yet.
    func uploads(_ answer: @escaping @Sendable ([UploadID]) -> Void)

    /// Starts an upload, whose bytes are a file in the engine's directory.
    func start(_ id: UploadID, _ request: EncodedRequest, bodyIn file: String) throws(FileFailure)

    /// Stops an upload, which then ends as cancelled; an upload that has ended or is unknown is ignored.
    func stop(_ id: UploadID)

    /// Ends the session once every upload has ended; it accepts no further ones.
    func finish()
}

/// The system's completion handlers, called when all events from the time when the app did not run are handled.
///
/// The system passes closures for the main thread that may not be `Sendable`, so they never leave the main actor.
@MainActor
private final class SystemCompletion {
    private var handlers: [Int: () -> Void] = [:]
    private var lastNumber = 0
    /// Until when a handler is called as soon as it comes, because the events were delivered before it.
    private var owedUntil = TimerInstant(nanoseconds: .min)

    /// A handler that comes later than this is that of other events, which may not have been delivered.
    private static let longestDelay = Duration.seconds(10)

    nonisolated init() {}

    /// Adds a handler, and returns the number to remove it by.
    func add(_ handler: @escaping () -> Void) -> Int {
        lastNumber += 1
        handlers[lastNumber] = handler
        return lastNumber
    }

    func remove(_ number: Int) { handlers[number] = nil }

    /// Whether a handler that comes now is that of events which have been delivered.
    func takeOwed(at now: TimerInstant) -> Bool { now < replace(&owedUntil, with: TimerInstant(nanoseconds: .min)) }

    func callAll(at now: TimerInstant) {
        let called = replace(&handlers, with: [:]).sorted { $0.key < $1.key }
        if called.isEmpty { owedUntil = now.advanced(by: Self.longestDelay) }
        for (_, handler) in called { handler() }
    }
}
