import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation

/// Accepts reports, on the calling thread.
extension OutboxEngine {
    /// The bytes of a submitted report.
    enum Source {
        case content(HTTPBodyContent)
        /// A file that stays in its place, with its size.
        case kept(Int64)

        /// The number of bytes; nil if it is unknown.
        var length: Int64? {
            switch self {
            case .content(let content): content.length
            case .kept(let length): length
            }
        }
    }

    /// Accepts a report, which is stored when this method returns.
    func submit(
        _ id: ReportID, _ request: HTTPRequest, _ source: Source, adding bodyHeaders: HTTPHeaders,
        _ priority: ReportPriority, _ kind: ReportKind
    ) throws(OutboxError) -> ReportID {
        guard shared.withLock({ $0.outbox.consent != .denied }) else { throw Self.withoutConsent }
        // A body's own headers are stored, too.
        var checked = request
        checked.headers.merge(filling: bodyHeaders)
        try check.check(checked)
        let head = RecordHead(id, request, adding: bodyHeaders)
        let handle: OutboxHandle
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
        let (leaving, waiters, maySend, isDenied, isUnwanted) = shared.withLock { shared in
            (
                shared.outbox.accept(handle), shared.waiters.removeValue(forKey: id) ?? [], shared.outbox.maySend,
                shared.outbox.consent == .denied, shared.outbox.takeIfUnwanted(handle)
            )
        }
        signal(waiters)
        drop(leaving: leaving, because: .noRoom)
        if isUnwanted { leave(handle, .dropped(.withoutConsent)) }
        // Consent was withdrawn while this report was being written.
        if isDenied { dropAllWithoutConsent() }
        // Waking the queue costs as much as the rest of a submission, so it is done only if reports may be sent.
        if maySend { schedulePump() }
        return id
    }

    /// Runs a submission, and counts it if it is rejected.
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

    /// Reserves capacity for a report; returns nil if a report with its identifier is in the outbox.
    private func admit(
        _ head: RecordHead, _ source: Source, _ priority: ReportPriority, _ kind: ReportKind
    ) throws(OutboxError) -> OutboxHandle? {
        var flags = RecordName.Flags(priority)
        if case .kept = source { flags.insert(.keptOutside) }
        while true {
            let semaphore = DispatchSemaphore(value: 0)
            let admission = withTime { shared, time, now in
                let admission = shared.outbox.admit(
                    head.id, size: source.length ?? 0, submitted: now.wall, destination: head.destination, flags: flags,
                    kind: kind, now: time)
                if case .isMoving = admission { shared.waiters[head.id, default: []].append(semaphore) }
                return admission
            }
            switch admission {
            case .admitted(let handle): return handle
            case .joins: return nil
            case .refused(let error): throw error
            // The other report may still fail, so this submission must not rely on it.
            case .isMoving: semaphore.wait()
            }
        }
    }

    private func write(_ head: RecordHead, _ source: Source, _ handle: OutboxHandle) throws(OutboxError) {
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
            let refusal = shared.outbox.confirm(handle, size: size)
            return (refusal, shared.outbox[handle]?.name)
        }
        if let refusal {
            store.discard(temporary)
            throw refusal
        }
        if let name { try store.publish(temporary, as: name) }
    }

    private static let withoutConsent = OutboxError(
        .consent, "The user does not consent to storing reports; call setConsent(_:), or do not submit any.")

    static let closed = OutboxError(.closed, "The outbox is closed; open another.")

    func signal(_ waiters: [DispatchSemaphore]) {
        for waiter in waiters { waiter.signal() }
    }
}

/// Checks that a request may be stored.
///
/// A request with a secret is rejected. If the secret were silently left out, the server would reject the report, days later and
/// for no visible reason. Authorization is the task of the chain, which adds it at every attempt.
struct RequestCheck: Sendable {
    private let harmlessNames: Set<String>

    init(_ settings: OutboxSettings) {
        harmlessNames = Set(settings.harmlessNames.map { $0.lowercased() })
    }

    func check(_ request: HTTPRequest) throws(OutboxError) {
        guard request.method.isToken else {
            throw OutboxError(.request, "The HTTP method is not valid; it must be a token, such as POST.")
        }
        do { try request.headers.validate() } catch { throw OutboxError(.request, "\(error)") }
        for field in request.headers where isSecret(field.name) {
            throw OutboxError(
                .secret,
                """
                The header “\(field.name)” looks secret, and outboxes do not store secrets; let a loader of the chain add it, or list it in \
                the settings' harmlessNames.
                """)
        }
        for item in request.queryItems where isSecret(item.name) {
            throw OutboxError(
                .secret,
                """
                The query item “\(item.name)” looks secret, and outboxes do not store secrets; let a loader of the chain add it, or list it in \
                the settings' harmlessNames.
                """)
        }
        // The loggable text shows a user and a password too, and constructing a URL is much more expensive.
        if request.loggableURL.hasPrefix(request.scheme + "://redacted@") {
            throw OutboxError(
                .secret,
                "The URL contains a user name or a password, and outboxes do not store secrets; let the chain add the authorization."
            )
        }
    }

    private func isSecret(_ name: String) -> Bool {
        HTTPHeaders.isSecret(name) && !harmlessNames.contains(name.lowercased())
    }
}
