// Uploads: uploads that go on without the app, but for the session that makes them, and what they say to a box. It may use
// Coding, Reports, Settings and Store.

import Dispatch
import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Runs uploads that go on without the app: the state, its ledger, a session, and a queue on which events are handled one
/// after the other.
///
/// The state decides under the lock, and what it decided is done on the queue after unlocking, before the next event is heard.
/// Bytes are copied on the thread that loads.
final class UploadEngine: Sendable {
    private let ledger: UploadLedger
    private let timers: any Timers
    private let loader: String
    private let queue = DispatchQueue(label: "ReportOutbox.BackgroundUploads")
    private let shared: Locked<Shared>
    private let systemCompletion = SystemCompletion()

    /// How long an upload that the system does not list is waited for, before it counts as lost.
    static let grace = Duration.seconds(60)

    private struct Shared {
        var state: BackgroundUploadState
        var session: (any UploadSession)?
        var tasks: [BackgroundUploadState.Waiter: HTTPTask] = [:]
        /// The requests of uploads whose bytes are in place, and that have not begun.
        var prepared: [UploadID: EncodedRequest] = [:]
        var lastWaiter = 0
        /// The lock of the directory.
        let ownership: any Sendable
        /// Blocks on the queue that have not ended.
        var pendingWork = 0
    }

    /// Takes up the uploads of a directory, in the session that `makeSession` makes for the engine.
    init(
        files: any Directory, timers: any Timers, loader: String, makeSession: (UploadEngine) -> any UploadSession
    ) throws(OutboxError) {
        self.timers = timers
        self.loader = loader
        ledger = UploadLedger(files: files)
        do throws(FileFailure) {
            let ownership = try files.take()
            let records = try ledger.open(now: RecordName.milliseconds(timers.date))
            shared = Locked(Shared(state: BackgroundUploadState(records), ownership: ownership))
        } catch {
            throw OutboxError(opening: error, for: "terminal of uploads")
        }
        // The session tells at once, to an engine that is there by now.
        let session = makeSession(self)
        shared.withLock { $0.session = session }
        session.uploads { [weak self] listed in self?.hear { $0.restored(listed) } }
    }

    // MARK: Tasks

    /// Takes a task, which joins the upload of its content or begins one.
    func load(_ task: HTTPTask) {
        let spare = UploadID()
        let request: EncodedRequest
        let content: UploadRecord.Content
        let handover = task.request.handover
        do {
            guard let key = task.request.headers["Idempotency-Key"], !key.isEmpty else {
                throw HTTPError(
                    .invalidRequest, request: task.request,
                    reason: "A background upload needs an Idempotency-Key, by which a later launch knows it; add one",
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
        hear { $0.load(waiter, content, spare: spare) }
        // A box that is closed leaves its uploads running; any other cancel stops them.
        let stops = handover == nil
        task.addCancelHandler { [weak self] in self?.hear { $0.letGo(waiter, stops: stops) } }
    }

    private func failure(of request: HTTPRequest, _ error: any Error) -> HTTPError {
        if let error = error as? HTTPError { return error }
        return HTTPError(
            .unknown, request: request, underlyingError: error,
            reason: "The bytes could not be copied to where the system reads them", loader: loader)
    }

    /// Stops every upload.
    func reset(done: @escaping @Sendable () -> Void) {
        hear { $0.reset() }
        queue.async(execute: done)
    }

    /// Lets the session end once every upload has.
    func finish() { session?.finish() }

    /// The keys of the uploads that go on, or whose answer no task has had.
    var keys: [String] { shared.withLock { $0.state.uploads.values.map(\.content.key) }.sorted() }

    // MARK: The session

    func ended(_ id: UploadID, _ end: UploadEnd) { hear { $0.ended(id, end) } }

    /// Hears that everything was told that happened while the app did not run.
    func eventsAreDelivered() { hear { $0.eventsAreDelivered() } }

    /// Keeps what the system is to be told once everything was heard; where nothing goes on, that is now.
    @MainActor
    func whenEventsAreDelivered(_ completion: @escaping () -> Void) {
        systemCompletion.add(completion)
        hear { $0.isQuiet ? [.tellSystem] : [] }
    }

    // MARK: The queue

    private func hear(_ event: @escaping @Sendable (inout BackgroundUploadState) -> [BackgroundUploadState.Action]) {
        shared.withLock { $0.pendingWork += 1 }
        queue.async { [self] in
            for action in shared.withLock({ event(&$0.state) }) { carryOut(action) }
            shared.withLock { $0.pendingWork -= 1 }
        }
    }

    /// Waits until everything that was heard is done.
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
        case .tellContinues(let waiter): shared.withLock { $0.tasks[waiter] }?.request.handover?.continues()
        case .complete(let waiter, let id, let end): complete(waiter, id, end)
        case .startGrace:
            timers.schedule(after: Self.grace) { [weak self] in self?.hear { $0.graceIsOver() } }
        case .tellSystem: Task { @MainActor [systemCompletion] in systemCompletion.callAll() }
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
            session?.start(id, request, bodyIn: UploadLedger.body(id))
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
        // Where it cannot be written down, it is known for as long as this launch lasts.
        try? ledger.write(id, record(of: content, answer: end))
        ledger.discardBody(id)
    }

    private func record(of content: UploadRecord.Content, answer: UploadEnd?) -> UploadRecord {
        UploadRecord(content: content, written: RecordName.milliseconds(timers.date), answer: answer)
    }

    private func complete(_ waiter: BackgroundUploadState.Waiter, _ id: UploadID, _ end: UploadEnd) {
        guard let task = shared.withLock({ $0.tasks.removeValue(forKey: waiter) }) else { return }
        let request = task.request
        request.handover?.whenKept { [self] in hear { $0.noteKept(id) } }
        task.complete(end.result(for: request, loader: loader))
        if request.handover == nil { hear { $0.noteKept(id) } }
    }
}

/// What carries uploads out while the app does not run: a background `URLSession` on Apple systems.
///
/// It tells ``UploadEngine/ended(_:_:)`` how each upload ended, once, perhaps in a later launch, and
/// ``UploadEngine/eventsAreDelivered()`` when it has told all that happened while the app did not run.
protocol UploadSession: Sendable {
    /// Answers which uploads have not ended, sooner or later and on any thread, and lets those go on that were not begun yet.
    func uploads(_ answer: @escaping @Sendable ([UploadID]) -> Void)

    /// Begins an upload, whose bytes are a file of the engine's directory.
    func start(_ id: UploadID, _ request: EncodedRequest, bodyIn file: String)

    /// Stops an upload, which then ends as cancelled; of one that is over or unknown, nothing is heard.
    func stop(_ id: UploadID)

    /// Ends the session once every upload has ended, and takes no more.
    func finish()
}

/// What the system is to be told once everything that happened while the app did not run has been heard.
///
/// The system gives a closure that belongs to the main thread, and may be no `Sendable` one; so it never leaves the main actor.
@MainActor
private final class SystemCompletion {
    private var handlers: [() -> Void] = []

    nonisolated init() {}

    func add(_ handler: @escaping () -> Void) { handlers.append(handler) }

    func callAll() {
        let called = handlers
        handlers = []
        for handler in called { handler() }
    }
}
