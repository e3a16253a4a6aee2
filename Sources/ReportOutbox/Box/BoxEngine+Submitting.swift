import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation

/// Takes reports in, on the calling thread.
extension BoxEngine {
    /// What a report consists of.
    enum Source {
        case content(HTTPBodyContent)
        /// A file that stays where it is.
        case kept(Int64)

        /// How many bytes there are, or nil where that is not known.
        var length: Int64? {
            switch self {
            case .content(let content): content.length
            case .kept(let length): length
            }
        }
    }

    /// Takes a report in.
    ///
    /// When this returns, it is in the box.
    func submit(
        _ id: ReportID, _ request: HTTPRequest, _ source: Source, adding bodyHeaders: HTTPHeaders,
        _ priority: ReportPriority, _ kind: ReportKind
    ) throws(OutboxError) -> ReportID {
        guard shared.withLock({ $0.box.consent != .denied }) else { throw Self.withoutConsent }
        try check.check(request)
        let head = RecordHead(id, request, adding: bodyHeaders)
        let handle: BoxHandle
        do throws(OutboxError) {
            guard let admitted = try admit(head, source, priority, kind) else {
                emit(.joined(id))
                return id
            }
            handle = admitted
            do throws(OutboxError) {
                try write(head, source, handle)
            } catch {
                signal(shared.withLock { $0.remove(handle) })
                throw error
            }
        } catch {
            note(refused: head, kind, because: error)
            throw error
        }
        emit(.accepted(id))
        let (leaving, waiters, maySend, isDenied) = shared.withLock { shared in
            (
                shared.box.accept(handle), shared.waiters.removeValue(forKey: id) ?? [], shared.box.maySend,
                shared.box.consent == .denied
            )
        }
        signal(waiters)
        for handle in leaving { leave(handle, .dropped(.noRoom)) }
        // It was withdrawn while this one was being written.
        if isDenied { dropAllWithoutConsent() }
        // Waking the queue costs as much as all the rest, so it is done only if there is something to send.
        if maySend { schedulePump() }
        return id
    }

    /// Submits a report, and counts it if it is refused.
    func counting<Result>(_ submit: () throws(OutboxError) -> Result) throws(OutboxError) -> Result {
        do throws(OutboxError) {
            guard enter() else { throw Self.closed }
            defer { exit() }
            return try submit()
        } catch {
            shared.withLock { $0.counters.refused[error.code, default: 0] += 1 }
            throw error
        }
    }

    /// Gets a place for a report; nil if it joins one that is there.
    private func admit(
        _ head: RecordHead, _ source: Source, _ priority: ReportPriority, _ kind: ReportKind
    ) throws(OutboxError) -> BoxHandle? {
        var flags = RecordName.Flags(priority)
        if case .kept = source { flags.insert(.keptOutside) }
        while true {
            let now = now
            let semaphore = DispatchSemaphore(value: 0)
            let admission = shared.withLock { shared in
                let time = shared.time(now)
                let admission = shared.box.admit(
                    head.id, size: source.length ?? 0, submitted: now.wall, destination: head.destination, flags: flags,
                    kind: kind, now: time)
                if case .isMoving = admission { shared.waiters[head.id, default: []].append(semaphore) }
                return admission
            }
            switch admission {
            case .admitted(let handle): return handle
            case .joins: return nil
            case .refused(let error): throw error
            // A submission that joined it now would be promised what may still fail.
            case .isMoving: semaphore.wait()
            }
        }
    }

    private func write(_ head: RecordHead, _ source: Source, _ handle: BoxHandle) throws(OutboxError) {
        let temporary = RecordName.temporaryPrefix + String(handle.sequence, radix: 16)
        let size: Int64
        switch source {
        case .content(let content):
            size = try store.write(head, content, as: temporary, limit: settings.maximumReportBytes)
        case .kept(let length):
            try store.write(head, length: length, as: temporary)
            size = length
        }
        let (refusal, name) = shared.withLock { shared in
            let refusal = shared.box.confirm(handle, size: size)
            return (refusal, shared.box[handle]?.name)
        }
        if let refusal {
            store.discard(temporary)
            throw refusal
        }
        if let name { try store.publish(temporary, as: name) }
    }

    private static let withoutConsent = OutboxError(
        .consent, "There is no consent to keep reports; give it with setConsent, or do not submit.")

    static let closed = OutboxError(.closed, "The box has been closed; open another.")

    func signal(_ waiters: [DispatchSemaphore]) {
        for waiter in waiters { waiter.signal() }
    }
}

/// Checks that a request may be written down.
///
/// Secrets are refused and not silently left out: a report without them would be turned away by the server, days later and
/// for no visible reason. Authorization belongs to the chain, which adds it whenever a report is sent.
struct RequestCheck: Sendable {
    private let harmlessNames: Set<String>

    init(_ settings: OutboxSettings) {
        harmlessNames = Set(settings.harmlessNames.map { $0.lowercased() })
    }

    func check(_ request: HTTPRequest) throws(OutboxError) {
        guard request.method.isToken else {
            throw OutboxError(.request, "The method is not valid; use letters, as in POST.")
        }
        do { try request.headers.validate() } catch { throw OutboxError(.request, "\(error)") }
        for field in request.headers where isSecret(field.name) {
            throw OutboxError(
                .secret,
                """
                The header “\(field.name)” sounds like a secret, and a box writes none down; let a loader of the chain add it, \
                or name it in the settings' harmlessNames.
                """)
        }
        for item in request.queryItems where isSecret(item.name) {
            throw OutboxError(
                .secret,
                """
                The query item “\(item.name)” sounds like a secret, and a box writes none down; let a loader of the chain add \
                it, or name it in the settings' harmlessNames.
                """)
        }
        // The text shows a user and a password as well, and making a URL costs more than all the rest.
        if request.loggableURL.hasPrefix(request.scheme + "://redacted@") {
            throw OutboxError(
                .secret, "The URL carries a user or a password, and a box writes none down; let the chain authorize it."
            )
        }
    }

    private func isSecret(_ name: String) -> Bool {
        HTTPHeaders.isSecret(name) && !harmlessNames.contains(name.lowercased())
    }
}
