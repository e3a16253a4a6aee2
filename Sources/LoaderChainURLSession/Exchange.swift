import Dispatch
import Foundation
import LoaderChain
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads one request, from the start of the task to its completion, including redirects.
///
/// An exchange completes its task exactly once, and notifies its owner exactly once that it has ended. It need not answer the
/// session after that: a session's task always reports its own end. ``ExchangeState`` makes the decisions; the exchange carries
/// them out, outside the lock.
final class Exchange: HTTPTaskObserver, @unchecked Sendable {
    let number: UInt64
    /// The task's request, before any redirect.
    let request: HTTPRequest
    let loader: String
    let owner: SessionOwner
    /// The queue for calls of the user's code, which must never run on a queue that the session needs.
    let courier: DispatchQueue
    let progress: ProgressReporter?
    let state = Locked(ExchangeState<LiveTask>())

    /// The state of the request that is being sent now.
    ///
    /// It needs no lock, because one thread at a time owns it: first the thread that starts the transfer, then the session's,
    /// then the thread that ends it.
    var transfer: Transfer

    /// The task, until it is completed.
    ///
    /// It is released on completion, because its result may hold a body that is still arriving. A body that nothing else retains
    /// ends the transfer.
    private let owed: Locked<HTTPTask?>
    let startInstant: TimerInstant
    let startDate: Date
    private let timeout: Duration
    private let lastActivity: Atomic<Int64>
    /// The time until which the session may end a cancelled task; the maximum if no task is cancelled, and always on Apple systems.
    private let patienceEnd = Atomic(Int64.max)

    init(_ task: HTTPTask, by loader: String, on owner: SessionOwner) {
        owed = Locked(task)
        self.loader = loader
        self.owner = owner
        number = owner.nextNumber()
        request = task.request
        if let onProgress = request.onProgress {
            courier = DispatchQueue(label: "LoaderChain.URLSessionLoader.progress")
            progress = ProgressReporter(onProgress, on: courier)
        } else {
            courier = .global()
            progress = nil
        }
        startInstant = owner.timers.now
        transfer = Transfer(request: request, redirects: 0, begin: startInstant)
        startDate = owner.timers.date
        timeout = request.timeout ?? owner.settings.timeout
        lastActivity = Atomic(startInstant.nanoseconds)
    }

    func start() {
        var request = request
        request.headers.merge(filling: owner.settings.headers)
        owner.watch(deadline)
        begin(request, redirects: 0)
    }

    // MARK: Stopping

    func taskWasCancelled(_ task: HTTPTask) { stop(.cancelled) }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {}

    /// Stops the exchange; it ends when the session reports the end of its task, or on Linux at the latest when its patience ends.
    func stop(_ reason: StopReason) {
        switch state.withLock({ $0.stop(reason) }) {
        case .nothing: break
        case .cancel(let sessionTask): cancel(sessionTask)
        case .end: finish(.failure(error(for: reason, of: request, response: nil)))
        }
    }

    func cancel(_ sessionTask: LiveTask) {
        sessionTask.cancel()
        #if canImport(FoundationNetworking)
            // Only the session on Linux can be stuck; see ``abandon()``.
            let end = owner.timers.now.advanced(by: owner.settings.patience)
            patienceEnd.store(end.nanoseconds, ordering: .relaxed)
            owner.watch(end)
        #endif
    }

    /// Ends a stopped exchange, although the session has not ended its task.
    ///
    /// On Linux, a session reads the body of a redirect to its end before it handles anything else, in quadratic time, and every
    /// other session of the process waits for it. Its later events are ignored; the transfer then belongs to its thread alone.
    private func abandon() {
        guard let reason = state.withLock({ $0.abandon() }) else { return }
        progress?.end()
        finish(.failure(error(for: reason, of: request, response: nil)))
    }

    /// Runs a closure that answers the session, unless the session's task was cancelled.
    func answer(_ answer: () -> Void) {
        guard state.withLock({ $0.beginAnswer() }) else { return }
        answer()
        if let sessionTask = state.withLock({ $0.endAnswer() }) { cancel(sessionTask) }
    }

    // MARK: The end

    /// Completes the task, or ends the chunks if the task is already complete.
    func finish(_ result: HTTPResult) {
        if let end = state.withLock({ $0.end() }) { finish(result, end) }
    }

    func finish(_ result: HTTPResult, _ end: ExchangeState<LiveTask>.End) {
        courier.async { [self] in
            if let pipe = end.pipe { pipe.end(result.error) } else { complete(result) }
            owner.ended(self)
        }
    }

    /// Notes that a head has arrived, which the result of the task may not show.
    func noteHead() { owed.withLock { $0 }?.noteHead() }

    func complete(_ result: HTTPResult) {
        let task = owed.withLock { replace(&$0, with: nil) }
        task?.complete(result)
    }

    func fail(
        _ code: HTTPError.Code, response: HTTPResponse? = nil, underlyingError: (any Error)? = nil,
        reason: String? = nil
    ) {
        finish(
            .failure(
                HTTPError(
                    code, request: transfer.request, response: response, underlyingError: underlyingError,
                    reason: reason, loader: loader)))
    }

    // MARK: Time

    /// Restarts the timeout, since bytes were sent or received.
    func noteActivity() {
        lastActivity.store(owner.timers.now.nanoseconds, ordering: .relaxed)
    }

    /// The time at which the exchange times out.
    ///
    /// The session's own timeouts are not used: on Linux they have a resolution of a second, and do not apply to redirected tasks.
    var deadline: TimerInstant {
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
}

/// A request in flight, and the part of its response that has arrived.
struct Transfer {
    let request: HTTPRequest
    /// The number of redirects so far.
    let redirects: Int
    /// The queue for calls that may block on the session that sends the request.
    var control: DispatchQueue?
    /// The temporary file with the body, if one was written for the transfer.
    var bodyFile: URL?
    var hasBody = false
    var bytesToSend: Int64?

    /// The head of the response.
    var response: HTTPResponse?
    /// A head that may be a proxy's answer to CONNECT, until something follows it.
    var heldHead: HTTPResponse?
    var firstByte: TimerInstant?
    /// The time at which the transfer began, and the time at which the session got it.
    let begin: TimerInstant
    var handover: TimerInstant?
    /// The request to send next, if the response is a redirect.
    var next: HTTPRequest?
    /// The destination of the body; nil before the head arrives, and after the body was rejected.
    var sink: (any ResponseSink)?
    /// Whether an authentication challenge was refused; the session then reports its task as cancelled.
    var refusedChallenge = false

    var bytesSent: Int64 = 0
    var bytesReceived: Int64 = 0
    var bytesToReceive: Int64?
    #if !canImport(FoundationNetworking)
        var platformMetrics: URLSessionTaskMetrics?
    #endif

    init(request: HTTPRequest, redirects: Int, begin: TimerInstant) {
        self.request = request
        self.redirects = redirects
        self.begin = begin
    }

    var progress: TransferProgress {
        TransferProgress(
            bytesSent: bytesSent, bytesToSend: bytesToSend, bytesReceived: bytesReceived,
            bytesToReceive: bytesToReceive)
    }
}
