import Dispatch
import Foundation
import LoaderChain
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One loading of a request, from the task to its completion.
///
/// It owes three things: the task one completion, the host one word that it has ended, and nothing to the session, whose
/// tasks always say themselves that they ended. ``ExchangeState`` decides; what is done about it is done here, outside
/// the lock.
final class Exchange: HTTPTaskObserver, @unchecked Sendable {
    let number: UInt64
    /// The request as the task had it.
    let request: HTTPRequest
    let loader: String
    let host: SessionHost
    /// Where everything of a user's is called: never on a queue that the session needs.
    let courier: DispatchQueue
    let progress: ProgressReporter?
    let state = Guarded(ExchangeState<URLSessionTask>())

    /// The transfer that is under way.
    ///
    /// It has one owner at a time, and no lock: whoever starts it, then the session, then whoever ends it.
    var transfer: Transfer

    /// The task, until it is completed: its result may hold a body that is still arriving, and that ends when nobody else
    /// holds it.
    private let owed: Guarded<HTTPTask?>
    let startInstant: TimerInstant
    let startDate: Date
    private let timeout: Duration
    private let lastSign: Atomic<Int64>

    init(_ task: HTTPTask, by loader: String, on host: SessionHost) {
        owed = Guarded(task)
        self.loader = loader
        self.host = host
        number = host.nextNumber()
        request = task.request
        transfer = Transfer(request: request, redirects: 0)
        if let onProgress = request.onProgress {
            courier = DispatchQueue(label: "LoaderChain.URLSessionLoader.progress")
            progress = ProgressReporter(onProgress, on: courier)
        } else {
            courier = .global()
            progress = nil
        }
        startInstant = host.timers.now
        startDate = host.timers.date
        timeout = request.timeout ?? host.settings.timeout
        lastSign = Atomic(startInstant.nanoseconds)
    }

    func start() {
        var request = request
        request.headers.merge(filling: host.settings.headers)
        host.watch(deadline)
        begin(request, redirects: 0)
    }

    // MARK: Stopping

    func taskWasCancelled(_ task: HTTPTask) { stop(.cancelled) }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {}

    /// Ends the exchange from this side; it is over once the session says so.
    func stop(_ reason: StopReason) {
        switch state.withLock({ $0.stop(reason) }) {
        case .nothing: break
        case .cancel(let transfer): cancel(transfer)
        case .end: finish(.failure(error(for: reason, response: nil)))
        }
    }

    func cancel(_ transfer: URLSessionTask) {
        // It waits for the session, which may be waiting for its delegate, which may be us.
        host.control.async { transfer.cancel() }
    }

    /// Gives the session an answer that it must not get after a cancel.
    func answer(_ answer: () -> Void) {
        guard state.withLock({ $0.beginAnswer() }) else { return }
        answer()
        if let transfer = state.withLock({ $0.endAnswer() }) { cancel(transfer) }
    }

    // MARK: The end

    /// Gives the task its result, or whoever reads the chunks their end.
    func finish(_ result: HTTPResult) {
        if let end = state.withLock({ $0.end() }) { finish(result, end) }
    }

    func finish(_ result: HTTPResult, _ end: ExchangeState<URLSessionTask>.End) {
        courier.async { [self] in
            if let pipe = end.pipe { pipe.end(result.error) } else { complete(result) }
            host.ended(self)
        }
    }

    func complete(_ result: HTTPResult) {
        let task = owed.withLock { exchange(&$0, with: nil) }
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

    /// Notes that something has arrived or was sent.
    func showsSign() {
        lastSign.store(host.timers.now.nanoseconds, ordering: .relaxed)
    }

    /// The session's own timeouts are not used: on Linux they count whole seconds, and forget a task that is redirected.
    var deadline: TimerInstant {
        let silence = TimerInstant(nanoseconds: lastSign.load(ordering: .relaxed)).advanced(by: timeout)
        return min(silence, startInstant.advanced(by: host.settings.resourceTimeout))
    }

    /// Ends the exchange if its deadline has come, and answers it otherwise.
    func deadline(after now: TimerInstant) -> TimerInstant? {
        let deadline = deadline
        if now < deadline { return deadline }
        stop(.timedOut(startInstant.duration(to: now)))
        return nil
    }
}
