import Dispatch
import LoaderChainPlatformFoundation
import Synchronization

/// Loads one request, from the start of the task to its completion, including redirects.
///
/// An exchange completes its task exactly once, and notifies its owner exactly once that it has ended. ``ExchangeState`` makes the
/// decisions; the exchange carries them out, outside the lock.
package final class Exchange: HTTPTaskObserver, @unchecked Sendable {
    let number: UInt64
    /// The task's request, before any redirect.
    let request: HTTPRequest
    let loader: String
    let owner: ExchangeOwner
    /// The queue for calls of the user's code, which must never run on a thread that the transport needs.
    var courier: DispatchQueue { ownQueue ?? .global() }
    /// The queue of an exchange that reports its progress, in order.
    private let ownQueue: DispatchQueue?
    let progress: ProgressReporter?
    let state = Locked(ExchangeState<any Transfer>())

    /// The state of the request that is being sent now.
    ///
    /// It needs no lock, because one thread at a time owns it: first the thread that starts the transfer, then the transport's,
    /// then the thread that ends it.
    var leg: Leg

    /// The task, until it is completed.
    ///
    /// It is released on completion, because its result may hold a body that is still arriving. A body that nothing else retains
    /// ends the transfer.
    private let owed: Locked<HTTPTask?>
    let startInstant: TimerInstant
    private let startDate: Date
    /// How long it may be idle.
    package let timeout: Duration
    private let lastActivity: Atomic<Int64>
    /// The time until which the transport may end a stopped transfer; the maximum if there is none.
    private let patienceEnd = Atomic(Int64.max)

    package init(_ task: HTTPTask, by loader: String, on owner: ExchangeOwner) {
        owed = Locked(task)
        self.loader = loader
        self.owner = owner
        number = owner.nextNumber()
        request = task.request
        if let onProgress = request.onProgress {
            let queue = DispatchQueue(label: "LoaderChain.\(loader).progress")
            ownQueue = queue
            progress = ProgressReporter(onProgress, on: queue)
        } else {
            ownQueue = nil
            progress = nil
        }
        startInstant = owner.timers.now
        leg = Leg(request: request, redirects: 0, begin: startInstant)
        startDate = owner.timers.date
        timeout = request.timeout ?? owner.settings.timeout
        lastActivity = Atomic(startInstant.nanoseconds)
    }

    package func start() {
        var request = request
        // Otherwise the request would be copied for nothing.
        if !owner.settings.headers.isEmpty { request.headers.merge(filling: owner.settings.headers) }
        owner.watch(deadline)
        begin(request, redirects: 0)
    }

    // MARK: Sending

    /// Sends the task's own request, or the request of a redirect.
    func begin(_ request: HTTPRequest, redirects: Int) {
        var request = request
        // Schemes are compared as they are from here on.
        let scheme = request.scheme.lowercased()
        if scheme != request.scheme { request.scheme = scheme }
        // A cache earlier in the chain uses the cookies in the response's request to decide whose response it is.
        request = request.addingCookies()
        leg = Leg(
            request: request, redirects: redirects, begin: redirects == 0 ? startInstant : owner.timers.now)
        if scheme != "http", scheme != "https" {
            return fail(TransferFailure(.invalidRequest, "The scheme is neither http nor https"))
        }
        if request.userInfo != nil {
            return fail(
                TransferFailure(
                    .invalidRequest,
                    "The URL has a user or a password; make it without them, and let a BasicAuth add the credentials"
                ))
        }
        if let refusal = owner.transport.refusal(of: request) { return fail(refusal) }
        do throws(HTTPError) {
            let encoded = try request.encoded(bodyIsForbiddenFor: Self.methodsWithoutBody)
            guard owner.transport.needsFile(for: encoded.content) else { return send(encoded, encoded.content) }
            // Reading a whole body can take long, so it does not happen on the caller's thread.
            DispatchQueue.global().async { self.assemble(encoded) }
        } catch {
            var error = error
            error.loader = loader
            finish(.failure(error))
        }
    }

    private static let methodsWithoutBody: Set<HTTPMethod> = [.get, .head, .trace]

    private func assemble(_ encoded: EncodedRequest) {
        do {
            let file = try AssembledBody.write(encoded.content) { [state] in state.withLock { $0.isStopped } }
            // No file means that the exchange was stopped, and the code that stopped it has ended it.
            guard let file else { return }
            do {
                let content = try HTTPBodyContent.file(file)
                leg.bodyFile = file
                send(encoded, content)
            } catch {
                TemporaryFile.remove(file)
                throw error
            }
        } catch SinkError.storage(let reason) {
            fail(TransferFailure(.invalidRequest, "The body could not be prepared for sending. \(reason)"))
        } catch {
            fail(
                TransferFailure(
                    .invalidRequest, "The body could not be prepared for sending", underlyingError: error))
        }
    }

    private func send(_ encoded: EncodedRequest, _ content: HTTPBodyContent) {
        leg.progress.bytesToSend = content.length
        owner.transport.send(encoded, content, for: self)
    }

    /// Whether the exchange has ended or is being stopped, so that a transfer need not begin; its body's file is removed then.
    package func isOverBeforeTransfer() -> Bool {
        guard state.withLock({ $0.isOver }) else { return false }
        removeBodyFile()
        return true
    }

    /// Notes the transfer, and returns whether to start it; otherwise the transport cancels it, and it must report its end.
    package func begin(_ transfer: any Transfer) -> Bool {
        guard state.withLock({ $0.begin(transfer) }) else {
            removeBodyFile()
            return false
        }
        leg.transfer = transfer
        return true
    }

    package func didSend(_ bytes: Int64) {
        noteActivity()
        leg.progress.bytesSent += bytes
        progress?.report(leg.progress)
    }

    func removeBodyFile() {
        if let file = replace(&leg.bodyFile, with: nil) { TemporaryFile.remove(file) }
    }

    // MARK: Stopping

    package func taskWasCancelled(_ task: HTTPTask) { stop(.cancelled) }

    package func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {}

    /// Stops the exchange; it ends when its transfer reports its end, or at the latest when the transport's patience ends.
    package func stop(_ reason: StopReason) {
        switch state.withLock({ $0.stop(reason) }) {
        case .nothing: break
        case .cancel(let transfer): cancel(transfer)
        case .end: finish(.failure(error(for: reason, of: request, response: nil)))
        }
    }

    package func cancel(_ transfer: any Transfer) {
        transfer.cancel()
        guard let patience = owner.transport.patience else { return }
        let end = owner.timers.now.advanced(by: patience)
        patienceEnd.store(end.nanoseconds, ordering: .relaxed)
        owner.watch(end)
    }

    /// Ends a stopped exchange, although its transfer has not ended.
    ///
    /// A session on Linux reads the body of a redirect to its end before it handles anything else, in quadratic time, and every
    /// other session of the process waits for it. Its later events are ignored; the leg then belongs to its thread alone.
    private func abandon() {
        guard let reason = state.withLock({ $0.abandon() }) else { return }
        progress?.end()
        finish(.failure(error(for: reason, of: request, response: nil)))
    }

    /// Runs a closure that answers the transport, unless the transfer was stopped.
    package func answer(_ answer: () -> Void) {
        guard state.withLock({ $0.beginAnswer() }) else { return }
        answer()
        if let transfer = state.withLock({ $0.endAnswer() }) { cancel(transfer) }
    }

    // MARK: The end

    /// Completes the task, or ends the chunks if the task is already complete.
    private func finish(_ result: HTTPResult) {
        guard let end = state.withLock({ $0.end() }) else { return }
        courier.async { [self] in finish(result, end) }
    }

    /// Does the same after a transfer, on its thread if the user's code may run there.
    func finishAfterTransfer(_ result: HTTPResult, _ end: ExchangeState<any Transfer>.End) {
        if progress == nil, owner.transport.endsWhereCodeMayRun { return finish(result, end) }
        courier.async { [self] in finish(result, end) }
    }

    private func finish(_ result: HTTPResult, _ end: ExchangeState<any Transfer>.End) {
        if let pipe = end.pipe { pipe.end(with: result) } else { complete(result) }
        owner.ended(self)
    }

    /// Notes that a head has arrived, which the result of the task may not show.
    func noteHead() { owed.withLock { $0 }?.noteHead() }

    func complete(_ result: HTTPResult) {
        let task = owed.withLock { replace(&$0, with: nil) }
        task?.complete(result)
    }

    /// Fails before a transfer has begun.
    package func fail(_ failure: TransferFailure) {
        removeBodyFile()
        finish(.failure(error(for: failure, response: nil)))
    }

    func error(for failure: TransferFailure, response: HTTPResponse?) -> HTTPError {
        HTTPError(
            failure.code, request: leg.request, response: response, underlyingError: failure.underlyingError,
            reason: failure.reason, loader: loader)
    }

    func error(for stop: StopReason, of request: HTTPRequest, response: HTTPResponse?) -> HTTPError {
        HTTPError(
            stop, of: request, response: response, nameOfResourceTimeout: owner.settings.nameOfResourceTimeout,
            loader: loader)
    }

    // MARK: Time

    /// Restarts the timeout, since bytes were sent or received.
    package func noteActivity() { noteActivity(at: owner.timers.now) }

    func noteActivity(at now: TimerInstant) { lastActivity.store(now.nanoseconds, ordering: .relaxed) }

    /// The time at which the exchange times out.
    ///
    /// The transports' own timeouts are not used: on Linux, those of a session have a resolution of a second, and do not apply to
    /// redirected tasks.
    private var deadline: TimerInstant {
        let silence = TimerInstant(nanoseconds: lastActivity.load(ordering: .relaxed)).advanced(by: timeout)
        return min(silence, resourceDeadline)
    }

    private var resourceDeadline: TimerInstant { startInstant.advanced(by: owner.settings.resourceTimeout) }

    /// Stops the exchange if its deadline has passed, or abandons it if its patience has ended; otherwise returns the deadline.
    func deadline(after now: TimerInstant) -> TimerInstant? {
        let patienceEnd = patienceEnd.load(ordering: .relaxed)
        if patienceEnd != .max {
            if now.nanoseconds < patienceEnd { return TimerInstant(nanoseconds: patienceEnd) }
            abandon()
            return nil
        }
        let deadline = deadline
        if now < deadline { return deadline }
        let time = startInstant.duration(to: now)
        stop(now < resourceDeadline ? .timedOut(time) : .tookTooLong(time))
        return nil
    }

    // MARK: What was measured

    func metrics(until end: TimerInstant, isWhole: Bool) -> TransferMetrics {
        var metrics = TransferMetrics(
            start: startDate, timeToFirstByte: leg.firstByte.map { startInstant.duration(to: $0) },
            duration: startInstant.duration(to: end), bytesSent: leg.progress.bytesSent,
            bytesReceived: leg.progress.bytesReceived, redirects: leg.redirects)
        leg.transfer?.measure(&metrics, firstByte: leg.firstByte, until: end, isWhole: isWhole)
        return metrics
    }
}

extension Exchange {
    /// A request in flight, and the part of its response that has arrived.
    struct Leg {
        let request: HTTPRequest
        let redirects: Int
        let begin: TimerInstant
        /// The temporary file with the body, if one was written for the transfer.
        var bodyFile: URL?
        var transfer: (any Transfer)?
        var progress = TransferProgress()

        var response: HTTPResponse?
        var firstByte: TimerInstant?
        /// The request to send next, if the response is a redirect.
        var next: HTTPRequest?
        /// The destination of the body; nil before the head arrives, and after the body was rejected.
        var sink: (any ResponseSink)?
    }

    package var currentRequest: HTTPRequest { leg.request }

    package var legBegin: TimerInstant { leg.begin }

    package var head: HTTPResponse? { leg.response }

    /// Whether the task is complete, and its reader gets the body.
    package var isBeingRead: Bool { state.withLock { $0.pipe != nil } }
}
