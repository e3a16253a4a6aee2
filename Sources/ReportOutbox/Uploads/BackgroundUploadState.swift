import LoaderChain

/// What is known of uploads that go on without the app, and what is to be done when something is heard of them.
///
/// An upload's life, over all launches:
///
///     running → ended → kept, and forgotten
///        ↑
///     unknown → missing → forgotten, and begun anew for tasks that wait
///
/// *Running*: the system has it, or is about to get it. *Ended*: the server has answered, and the answer is in the ledger
/// until the task that waited for it has written down what it means. *Unknown*: an earlier launch began it, and the system has not
/// said yet whether it still runs. *Missing*: the system does not list it; most likely it has ended, and its end is about to be
/// told.
///
/// Uploads are told apart by ``UploadID``, so an end that comes late never ends another upload of the same report. A load joins
/// an upload with the same content, of this launch or another, and begins one only if there is none.
///
/// It is a value without a lock, a disk or a session. Its owner carries out the actions in their order, one event at a time.
struct BackgroundUploadState {
    /// A task that waits for an upload's end.
    typealias Waiter = Int

    /// What the owner is to do.
    enum Action: Hashable {
        /// Write the upload down, then hand it to the session.
        case start(UploadID)
        case stop(UploadID)
        /// Remove the bytes of an upload that is not going to begin.
        case discard(UploadID)
        /// Write down what the server answered.
        case keep(UploadID, UploadEnd)
        /// Remove all that is on the disk of an upload.
        case forget(UploadID)
        /// Tell a task that its upload is one that was begun before, and its attempt no new one.
        case tellContinues(Waiter)
        /// End a task, and say so with ``noteKept(_:)`` once what it means is written down.
        case complete(Waiter, UploadID, UploadEnd)
        /// Call ``graceIsOver()`` after a while.
        case startGrace
        /// Tell the system that everything it has told was heard.
        case tellSystem
    }

    enum Phase: Hashable {
        case unknown
        case running
        case missing
        /// With whether a task of this launch has got the answer.
        case ended(UploadEnd, isGiven: Bool)
    }

    struct Upload {
        let content: UploadRecord.Content
        var phase: Phase
        /// The tasks that wait; as long as it is not known whether there is such an upload, each with one that could begin
        /// in its stead.
        var waiters: [(waiter: Waiter, spare: UploadID?)] = []
        /// Whether it is being stopped: no task joins it, and its end means nothing.
        var isStopping = false
    }

    private(set) var uploads: [UploadID: Upload] = [:]
    private var isRestored = false

    /// Takes up what the ledger knows.
    init(_ records: [UploadID: UploadRecord] = [:]) {
        for (id, record) in records {
            let phase: Phase = record.answer.map { .ended($0, isGiven: false) } ?? .unknown
            uploads[id] = Upload(content: record.content, phase: phase)
        }
    }

    /// Whether the end of an upload may still be told.
    var isQuiet: Bool {
        uploads.values.allSatisfy { if case .ended = $0.phase { true } else { false } }
    }

    // MARK: Tasks

    /// Takes a task whose bytes are in place as those of the upload `spare`.
    mutating func load(_ waiter: Waiter, _ content: UploadRecord.Content, spare: UploadID) -> [Action] {
        var actions: [Action] = []
        for (id, upload) in inOrder where upload.content.key == content.key && !upload.isStopping {
            guard upload.content == content else {
                // The report is another by now, and no task waits for the old one any more.
                if upload.waiters.isEmpty { actions += stop(id) }
                continue
            }
            switch upload.phase {
            case .running:
                uploads[id]?.waiters.append((waiter, nil))
                return actions + [.discard(spare), .tellContinues(waiter)]
            case .unknown, .missing:
                uploads[id]?.waiters.append((waiter, spare))
                return actions
            case .ended(let end, isGiven: false):
                uploads[id]?.phase = .ended(end, isGiven: true)
                return actions + [.discard(spare), .tellContinues(waiter), .complete(waiter, id, end)]
            case .ended(_, isGiven: true):
                // A task that has the answer and asks again wants another.
                actions += forget(id)
            }
        }
        return actions + begin(spare, content, for: [(waiter, nil)])
    }

    /// Lets a task go that was cancelled; its upload goes on, unless it `stops`.
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

    /// Hears that what an answer means was written down, so that it need not be kept.
    mutating func noteKept(_ id: UploadID) -> [Action] {
        guard case .ended(_, isGiven: true) = uploads[id]?.phase else { return [] }
        return forget(id)
    }

    /// Hears that an upload could not be begun, and returns who waits for it.
    mutating func couldNotStart(_ id: UploadID) -> [Waiter] {
        uploads.removeValue(forKey: id)?.waiters.map(\.waiter) ?? []
    }

    /// Stops everything, and lets every task go.
    mutating func reset() -> [Action] {
        inOrder.flatMap { id, upload -> [Action] in
            let spares = upload.waiters.compactMap(\.spare).map { Action.discard($0) }
            uploads[id]?.waiters = []
            return spares + stop(id) + upload.waiters.map { .complete($0.waiter, id, .failed(.cancelled)) }
        }
    }

    // MARK: The system

    /// Hears which uploads the system has.
    mutating func restored(_ listed: [UploadID]) -> [Action] {
        isRestored = true
        var actions: [Action] = []
        for (id, upload) in inOrder where upload.phase == .unknown {
            uploads[id]?.phase = listed.contains(id) ? .running : .missing
            if listed.contains(id) { actions += confirm(id) }
        }
        // What was forgotten and runs all the same has no bytes, and no task waits for it.
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
        // Without an answer there is nothing to keep: the next task begins anew.
        guard case .answered = end, !upload.isStopping else { return confirmations + completions + forget(id) }
        uploads[id]?.phase = .ended(end, isGiven: !upload.waiters.isEmpty)
        return confirmations + [.keep(id, end)] + completions
    }

    /// Hears that the system has told all that happened while the app did not run.
    mutating func eventsAreDelivered() -> [Action] {
        (isRestored ? giveUpMissing() : []) + [.tellSystem]
    }

    /// Hears that what was missing has had its time.
    mutating func graceIsOver() -> [Action] { giveUpMissing() }

    // MARK: -

    /// In an order that does not change from run to run.
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

    /// Tells the tasks of an upload that was unknown that it exists, and discards the bytes that were kept
    /// for the case that it is not.
    private mutating func confirm(_ id: UploadID) -> [Action] {
        guard let waiters = uploads[id]?.waiters else { return [] }
        uploads[id]?.waiters = waiters.map { ($0.waiter, nil) }
        return waiters.flatMap { waiter, spare -> [Action] in
            spare.map { [.discard($0), .tellContinues(waiter)] } ?? []
        }
    }

    /// Begins anew what the system has lost, for those who wait.
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
