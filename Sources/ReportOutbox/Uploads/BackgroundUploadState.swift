import LoaderChain

/// The state of uploads that continue without the app, and the actions for each event.
///
/// An upload's life, over all launches:
///
///     running → ended → kept, and forgotten
///        ↑
///     unknown → missing → forgotten, and restarted for waiting tasks
///
/// *Running*: the system has the upload, or is about to get it. *Ended*: the server has answered, and the ledger keeps the answer
/// until the task that waited for it has stored the outcome. *Unknown*: an earlier launch started the upload, and the system has
/// not reported yet whether it still runs. *Missing*: the system does not list the upload; most likely it has ended, and the
/// system is about to report that.
///
/// Uploads are identified by an ``UploadID``, so a late end never ends another upload of the same report. A load joins an upload
/// with the same content, of this launch or another, and starts an upload only if there is none.
///
/// It is a value without a lock, a disk or a session. Its owner carries out the actions in order, one event at a time.
struct BackgroundUploadState {
    /// The number of a task that waits for the end of an upload.
    typealias Waiter = Int

    enum Action: Hashable {
        /// Save the upload, then pass it to the session.
        case start(UploadID)
        case stop(UploadID)
        /// Remove the bytes of an upload that will not start.
        case discard(UploadID)
        /// Save the server's answer.
        case keep(UploadID, UploadEnd)
        /// Remove all files of an upload.
        case forget(UploadID)
        /// Notify a task that it joined an earlier upload, so that its attempt does not count.
        case notifyContinues(Waiter)
        /// Complete a task, and call ``noteKept(_:)`` once its outcome is on disk.
        case complete(Waiter, UploadID, UploadEnd)
        /// Call ``graceIsOver()`` after the grace period.
        case startGrace
        /// Call the system's completion handlers.
        case completeSystemEvents
    }

    enum Phase: Hashable {
        case unknown
        case running
        case missing
        /// The end, and whether a task of this launch has received it.
        case ended(UploadEnd, isGiven: Bool)
    }

    struct Upload {
        let content: UploadRecord.Content
        var phase: Phase
        /// The waiting tasks, each with a spare upload that could start instead while it is unknown whether the upload exists.
        var waiters: [(waiter: Waiter, spare: UploadID?)] = []
        /// Whether the upload is being stopped: no task joins it, and its end is ignored.
        var isStopping = false
    }

    private(set) var uploads: [UploadID: Upload] = [:]
    private var isRestored = false

    init(_ records: [UploadID: UploadRecord] = [:]) {
        for (id, record) in records {
            let phase: Phase = record.answer.map { .ended($0, isGiven: false) } ?? .unknown
            uploads[id] = Upload(content: record.content, phase: phase)
        }
    }

    /// Whether all uploads have ended, so that no event is outstanding.
    var isQuiet: Bool {
        uploads.values.allSatisfy { if case .ended = $0.phase { true } else { false } }
    }

    // MARK: Tasks

    /// Adds a task whose bytes are stored as those of the upload `spare`.
    mutating func load(_ waiter: Waiter, _ content: UploadRecord.Content, spare: UploadID) -> [Action] {
        var actions: [Action] = []
        for (id, upload) in inOrder where upload.content.key == content.key && !upload.isStopping {
            guard upload.content == content else {
                // The report has changed, and no task waits for the old upload any more.
                if upload.waiters.isEmpty { actions += stop(id) }
                continue
            }
            switch upload.phase {
            case .running:
                uploads[id]?.waiters.append((waiter, nil))
                return actions + [.discard(spare), .notifyContinues(waiter)]
            case .unknown, .missing:
                uploads[id]?.waiters.append((waiter, spare))
                return actions
            case .ended(let end, isGiven: false):
                uploads[id]?.phase = .ended(end, isGiven: true)
                return actions + [.discard(spare), .notifyContinues(waiter), .complete(waiter, id, end)]
            case .ended(_, isGiven: true):
                // A task that has received the answer and loads again wants a new one.
                actions += forget(id)
            }
        }
        return actions + begin(spare, content, for: [(waiter, nil)])
    }

    /// Completes a cancelled task; its upload continues, unless it `stops`.
    mutating func letGo(_ waiter: Waiter, stops: Bool) -> [Action] {
        for (id, upload) in uploads {
            guard let index = upload.waiters.firstIndex(where: { $0.waiter == waiter }) else { continue }
            let spare = upload.waiters[index].spare
            uploads[id]?.waiters.remove(at: index)
            let isLast = upload.waiters.count == 1
            return (spare.map { [.discard($0)] } ?? []) + [.complete(waiter, id, .failed(.cancelled))]
                + (stops && isLast ? stop(id) : [])
        }
        return []
    }

    /// Handles that the outcome of an upload is on disk, so that its answer is not needed any more.
    mutating func noteKept(_ id: UploadID) -> [Action] {
        guard case .ended(_, isGiven: true) = uploads[id]?.phase else { return [] }
        return forget(id)
    }

    /// Handles that an upload could not start, and returns the tasks that wait for it.
    mutating func couldNotStart(_ id: UploadID) -> [Waiter] {
        uploads.removeValue(forKey: id)?.waiters.map(\.waiter) ?? []
    }

    /// Stops all uploads, and completes all tasks.
    mutating func reset() -> [Action] {
        inOrder.flatMap { id, upload -> [Action] in
            let spares = upload.waiters.compactMap(\.spare).map { Action.discard($0) }
            uploads[id]?.waiters = []
            return spares + stop(id) + upload.waiters.map { .complete($0.waiter, id, .failed(.cancelled)) }
        }
    }

    // MARK: The system

    /// Handles the system's list of uploads.
    mutating func restored(_ listed: [UploadID]) -> [Action] {
        isRestored = true
        var actions: [Action] = []
        for (id, upload) in inOrder where upload.phase == .unknown {
            uploads[id]?.phase = listed.contains(id) ? .running : .missing
            if listed.contains(id) { actions += confirm(id) }
        }
        // An upload that was forgotten but still runs has no bytes, and no task waits for it.
        actions += listed.filter { uploads[$0] == nil }.map { .stop($0) }
        if uploads.values.contains(where: { $0.phase == .missing }) { actions.append(.startGrace) }
        return actions
    }

    mutating func ended(_ id: UploadID, _ end: UploadEnd) -> [Action] {
        guard let upload = uploads[id] else { return [] }
        if case .ended = upload.phase { return [] }
        let confirmations = confirm(id)
        let completions = upload.waiters.map { Action.complete($0.waiter, id, end) }
        uploads[id]?.waiters = []
        // Without an answer, nothing is kept: the next task starts a new upload.
        guard case .answered = end, !upload.isStopping else { return confirmations + completions + forget(id) }
        uploads[id]?.phase = .ended(end, isGiven: !upload.waiters.isEmpty)
        return confirmations + [.keep(id, end)] + completions
    }

    /// Handles that the system has reported all events from the time when the app did not run.
    mutating func eventsAreDelivered() -> [Action] {
        (isRestored ? giveUpMissing() : []) + [.completeSystemEvents]
    }

    mutating func graceIsOver() -> [Action] { giveUpMissing() }

    // MARK: -

    /// The uploads in an order that is the same in every run.
    private var inOrder: [(key: UploadID, value: Upload)] { uploads.sorted { $0.key.text < $1.key.text } }

    private mutating func begin(
        _ id: UploadID, _ content: UploadRecord.Content, for waiters: [(waiter: Waiter, spare: UploadID?)]
    ) -> [Action] {
        uploads[id] = Upload(content: content, phase: .running, waiters: waiters)
        return [.start(id)]
    }

    private mutating func stop(_ id: UploadID) -> [Action] {
        if case .ended = uploads[id]?.phase { return forget(id) }
        uploads[id]?.isStopping = true
        return [.stop(id)]
    }

    private mutating func forget(_ id: UploadID) -> [Action] {
        uploads[id] = nil
        return [.forget(id)]
    }

    /// Notifies the tasks of an unknown upload that it exists, and discards their spare uploads.
    private mutating func confirm(_ id: UploadID) -> [Action] {
        guard let waiters = uploads[id]?.waiters else { return [] }
        uploads[id]?.waiters = waiters.map { ($0.waiter, nil) }
        return waiters.flatMap { waiter, spare -> [Action] in
            spare.map { [.discard($0), .notifyContinues(waiter)] } ?? []
        }
    }

    /// Restarts the uploads that the system has lost, for the tasks that wait.
    private mutating func giveUpMissing() -> [Action] {
        var actions: [Action] = []
        for (id, upload) in inOrder where upload.phase == .missing {
            actions += forget(id)
            guard !upload.isStopping, let spare = upload.waiters.compactMap(\.spare).first else { continue }
            let others = upload.waiters.compactMap(\.spare).filter { $0 != spare }
            actions += others.map { .discard($0) }
            actions += begin(spare, upload.content, for: upload.waiters.map { ($0.waiter, nil) })
        }
        return actions
    }
}
