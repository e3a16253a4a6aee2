import Dispatch
import Foundation
import LoaderChain
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Owns the session of a loader, and the exchanges in flight on it.
///
/// Exchanges retain their owner, and the owner retains them while they are in flight. So the owner outlives its loader until
/// the last of them has ended, including redirects.
final class SessionOwner: Sendable {
    let settings: SessionSettings
    let timers: any Timers
    let session: LiveSession

    private let inFlight = Locked(InFlightState<Exchange, DispatchGroup>())
    private let numbers = Atomic<UInt64>(0)
    private let deadlines: DeadlineWatch

    init(_ settings: SessionSettings, sharing shared: URLSession? = nil, timers: any Timers) {
        self.settings = settings
        self.timers = timers
        deadlines = DeadlineWatch(timers) { [inFlight] now in
            inFlight.withLock { $0.all }.compactMap { $0.deadline(after: now) }.min()
        }
        session = LiveSession(settings.configuration, sharing: shared)
    }

    /// The session for a request.
    ///
    /// If a reused connection turns out to be dead, libcurl sends a request without a body again, whatever its method, although the
    /// server may have processed it. A request that must not be repeated gets a session of its own, which has no connection to
    /// reuse. If the request has a body, the session asks first; see ``Exchange/bodyIsNeededAgain()``.
    func session(for method: HTTPMethod, hasBody: Bool) -> LiveSession {
        #if canImport(FoundationNetworking)
            if !method.isIdempotent, !hasBody { return LiveSession(settings.configuration) }
        #endif
        return session
    }

    func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).oldValue }
}

// MARK: - Exchanges in flight

extension SessionOwner {
    var count: Int { inFlight.withLock { $0.count } }

    /// Registers an exchange until its end; returns false if a reset is waiting for other exchanges.
    func admit(_ exchange: Exchange) -> Bool {
        inFlight.withLock { $0.admit(exchange, number: exchange.number) }
    }

    func watch(_ deadline: TimerInstant) { deadlines.note(deadline) }

    func ended(_ exchange: Exchange) {
        for group in inFlight.withLock({ $0.end(exchange.number) }) { group.leave() }
    }

    /// Cancels all exchanges, and leaves `group` when the last of them has ended.
    func cancelAll(in group: DispatchGroup) {
        group.enter()
        guard let waitedFor = inFlight.withLock({ $0.begin(group) }) else { return group.leave() }
        for exchange in waitedFor { exchange.stop(.cancelled) }
    }

    /// Leaves `group` although exchanges have not ended, and admits new exchanges again.
    func giveUp(_ group: DispatchGroup) {
        for group in inFlight.withLock({ $0.giveUp { $0 === group } }) { group.leave() }
    }
}

// MARK: - The session

/// A session with its delegate, and with the queue for calls that may block on it.
///
/// Code that holds a task of the session retains the session, so that no task is ever created on an invalidated session.
final class LiveSession: Sendable {
    let session: URLSession
    private let delegate = SessionDelegate()
    private let isShared: Bool
    /// The queue for calls that may block on the session, which would deadlock if made from its own callbacks.
    let control = DispatchQueue(label: "LoaderChain.URLSessionLoader.control")
    /// The queue on which tasks are created, apart from that for cancellations; both may wait for the session.
    private let preparation = DispatchQueue(label: "LoaderChain.URLSessionLoader.preparation")

    init(_ configuration: URLSessionConfiguration, sharing shared: URLSession? = nil) {
        #if canImport(FoundationNetworking)
            isShared = false
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue())
        #else
            isShared = shared != nil
            session = shared ?? URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        #endif
    }

    deinit {
        if !isShared { session.finishTasksAndInvalidate() }
    }

    /// Runs a closure that may block on the session; on Linux that can take until the session's current work is done.
    func prepare(_ work: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
            preparation.async(execute: work)
        #else
            work()
        #endif
    }

    /// Creates a task of the session, whose events go to the exchange.
    func makeTask(_ request: URLRequest, body: OutgoingBody, for exchange: Exchange) -> LiveTask {
        let task: URLSessionTask =
            switch body.source {
            case .none: session.dataTask(with: request)
            case .data(let data): session.uploadTask(with: request, from: data)
            case .file(let url): session.uploadTask(with: request, fromFile: url)
            case .content(let content, let length): session.dataTask(with: request.streaming(content, length: length))
            }
        #if !canImport(FoundationNetworking)
            if isShared { task.delegate = delegate }
        #endif
        delegate.connect(exchange, to: task)
        return LiveTask(task: task, session: self)
    }
}

struct LiveTask: Sendable {
    let task: URLSessionTask
    let session: LiveSession

    func resume() { task.resume() }

    /// Cancels the task.
    ///
    /// Cancelling waits for the session, which may be waiting for its delegate, and this may be the delegate's thread.
    func cancel() {
        session.control.async { [task] in task.cancel() }
    }
}

/// Passes each event of the session to its exchange.
///
/// The session retains its delegate. The delegate retains exchanges, which end, but not the loader, so the session does not keep
/// a loader alive.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Locked<[Int: Exchange]>([:])

    func connect(_ exchange: Exchange, to task: URLSessionTask) {
        let number = task.taskIdentifier
        exchanges.withLock { $0[number] = exchange }
    }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        let number = task.taskIdentifier
        return exchanges.withLock { $0[number] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The exchange follows redirects itself, each with a new task.
        guard let exchange = exchange(of: task) else { return completionHandler(nil) }
        exchange.answer { completionHandler(nil) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let exchange = exchange(of: task) else { return completionHandler(.performDefaultHandling, nil) }
        exchange.receive(challenge, answer: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // The session also calls this for requests without a body.
        exchange(of: task)?.bodyIsNeededAgain()
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.didSend(bytesSent)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    #if !canImport(FoundationNetworking)
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            exchange(of: task)?.receive(metrics)
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let number = task.taskIdentifier
        let exchange = exchanges.withLock { $0.removeValue(forKey: number) }
        exchange?.sessionTaskEnded(task.response, error)
    }
}

// MARK: - The settings of a session

/// The settings of a loader, as taken from its session's configuration.
struct SessionSettings: @unchecked Sendable {
    // A private copy that never changes, so it is safe to send.
    let configuration: URLSessionConfiguration
    /// Header fields for every request.
    ///
    /// The loader adds them, because the session would send them to the host of a redirect too.
    let headers: HTTPHeaders
    /// The maximum idle time of an exchange.
    let timeout: Duration
    /// The maximum total time of an exchange.
    let resourceTimeout: Duration
    /// The maximum time in which the session has to end a cancelled task.
    let patience = Duration.seconds(1)
    let responseSizeLimit: Int
    let trust: SessionTrust
    /// Whether a proxy may answer in place of the origin.
    let mayTunnel: Bool

    init(
        _ configuration: URLSessionConfiguration, responseSizeLimit: Int, trust: SessionTrust = .system,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let copy = (configuration.copy() as? URLSessionConfiguration) ?? configuration
        headers = HTTPHeaders(
            (copy.httpAdditionalHeaders ?? [:]).compactMap { name, value in
                (name.base as? String).map { .init($0, "\(value)") }
            }.sorted { $0.name < $1.name })
        copy.httpAdditionalHeaders = nil
        // Requests wait before the session gets them; otherwise their wait would count as the server's time.
        copy.httpMaximumConnectionsPerHost = 10_000
        // All sessions would share one cookie storage, on Linux a file in the user's home that other users can read, and its
        // cookies would replace those of the request.
        copy.httpCookieStorage = nil
        copy.httpShouldSetCookies = false
        #if canImport(FoundationNetworking)
            mayTunnel = ProxyAnswer.isPossible(in: environment)
            // With a cache, the session traps if a task is cancelled as it ends.
            copy.urlCache = nil
            copy.urlCredentialStorage = nil
        #else
            mayTunnel = false
            trust.apply(to: copy)
        #endif
        timeout = .seconds(clamping: copy.timeoutIntervalForRequest)
        resourceTimeout = .seconds(clamping: copy.timeoutIntervalForResource)
        self.configuration = copy
        self.responseSizeLimit = max(0, responseSizeLimit)
        self.trust = trust
    }
}

extension Duration {
    /// Converts seconds as the platform gives them, limited to a year.
    fileprivate static func seconds(clamping seconds: Double) -> Duration {
        seconds.isNaN ? .seconds(60) : .seconds(min(max(seconds, 0), 365 * 86_400))
    }
}

#if canImport(FoundationNetworking)
    /// A delegate queue that runs each operation immediately, on the session's own queue.
    ///
    /// A session on Linux cannot pause a transfer: it enqueues each piece and continues to read, and pieces that its delegate has
    /// not handled yet accumulate in memory. With this queue, the session waits for its delegate, which writes the piece and
    /// returns. Nothing accumulates, and no thread is woken.
    ///
    /// In return, the delegate must never wait for the session, nor call the user's code. If a later version of the session uses
    /// its queue differently, this is still a valid serial queue.
    private final class ImmediateQueue: OperationQueue, @unchecked Sendable {
        override init() {
            super.init()
            maxConcurrentOperationCount = 1
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif
