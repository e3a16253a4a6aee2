import Dispatch
import Foundation
import LoaderChain
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The session of a loader, which carries its requests.
final class SessionTransport: Transport {
    let settings: SessionSettings
    let session: LiveSession
    private let timers: any Timers

    init(_ settings: SessionSettings, sharing shared: URLSession? = nil, timers: any Timers) {
        self.settings = settings
        self.timers = timers
        session = LiveSession(settings.configuration, sharing: shared)
    }

    /// The maximum time in which the session has to end a cancelled task; only on Linux it can be stuck.
    var patience: Duration? {
        #if canImport(FoundationNetworking)
            .seconds(1)
        #else
            nil
        #endif
    }

    /// False: they end on a thread that the session needs.
    var endsWhereCodeMayRun: Bool { false }

    func needsFile(for content: HTTPBodyContent) -> Bool { OutgoingBody(content) == nil }

    func refusal(of request: HTTPRequest) -> TransferFailure? {
        if let reason = settings.trust.options.reasonNotToSend(request) {
            return TransferFailure(.insecureConnection, reason)
        }
        // The session adds its fields to every request, also to that of a redirect, from which the exchange has removed them.
        let removed = settings.headers.first { HTTPHeaders.isSecret($0.name) && !request.headers.contains($0.name) }
        if session.isShared, let removed {
            return TransferFailure(
                .invalidRequest,
                "The session would send its \(removed.name) to the server of a redirect too; let a loader add it instead"
            )
        }
        let reason = reasonNotToSend(request)
        return reason.map { TransferFailure(.invalidRequest, $0) }
    }

    private func reasonNotToSend(_ request: HTTPRequest) -> String? {
        #if canImport(FoundationNetworking)
            if request.cachePolicy == .returnCacheDataDontLoad {
                return "This platform has no cache; use another cache policy"
            }
            // Newer versions of libcurl remove encoded dots too.
            let segments = request.path.split(separator: "/").map { $0.lowercased().replacing("%2e", with: ".") }
            if segments.contains(where: { $0 == "." || $0 == ".." }) {
                return "The session would remove the dots from the path and send a different path; leave them out"
            }
        #endif
        guard URLRequest.changesMethod(request.method) else { return nil }
        return
            "The session would send the method \(request.method) in upper case, which is a different method; write it in upper case, or rename it"
    }

    func send(_ encoded: EncodedRequest, _ content: HTTPBodyContent, for exchange: Exchange) {
        guard let plain = OutgoingBody(content) else {
            return exchange.fail(TransferFailure(.invalidRequest, "The session cannot send this body"))
        }
        let (session, body) = route(plain, encoded.method)
        session.prepare { [timers, settings] in
            // While the session was stuck, the exchange may have ended.
            if exchange.isOverBeforeTransfer() { return }
            let transfer = session.makeTransfer(
                URLRequest(encoded), body, for: exchange, settings, at: timers.now)
            if exchange.begin(transfer) { transfer.resume() } else { exchange.cancel(transfer) }
        }
    }

    /// Empties the cache of a session of the loader's own, which knows no users.
    func forget() {
        if !session.isShared { settings.configuration.urlCache?.removeAllCachedResponses() }
    }

    /// The session for a request, and the form of its body there.
    ///
    /// If a reused connection turns out to be dead, libcurl sends a request without a body again, whatever its method, although the
    /// server may have processed it. For a body it asks first; see ``SessionTransfer/bodyIsNeededAgain()``. Newer versions ask for
    /// an empty stream too. With older ones, a request that must not be repeated gets a session of its own, which has no connection
    /// to reuse.
    private func route(_ body: OutgoingBody, _ method: HTTPMethod) -> (LiveSession, OutgoingBody) {
        #if canImport(FoundationNetworking)
            if !method.isIdempotent, !body.hasBytes {
                return SystemCurl.isAtLeast8_12
                    ? (session, .emptyStream) : (LiveSession(settings.configuration), body)
            }
        #endif
        return (session, body)
    }
}

// MARK: - The session

/// A session with its delegate, and with the queue for calls that may block on it.
///
/// Code that holds a task of the session retains the session, so that no task is ever created on an invalidated session.
final class LiveSession: Sendable {
    let session: URLSession
    private let delegate: SessionDelegate
    /// Whether the session is the app's.
    let isShared: Bool
    #if canImport(FoundationNetworking)
        /// Whether a connection of the session may be over TLS.
        private let usesTLS = Atomic(false)
    #endif
    /// The queue for calls that may block on the session, which would deadlock if made from its own callbacks.
    let control = DispatchQueue(label: "LoaderChain.URLSessionLoader.control")
    /// The queue on which tasks are created, apart from that for cancellations; both may wait for the session.
    private let preparation = DispatchQueue(label: "LoaderChain.URLSessionLoader.preparation")

    init(_ configuration: URLSessionConfiguration, sharing shared: URLSession? = nil) {
        #if canImport(FoundationNetworking)
            isShared = false
            delegate = SessionDelegate(answersChallenges: true)
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue())
        #else
            isShared = shared != nil
            delegate = SessionDelegate(answersChallenges: shared == nil)
            session = shared ?? URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        #endif
    }

    deinit {
        if !isShared { session.finishTasksAndInvalidate() }
        #if canImport(FoundationNetworking)
            if SystemCurl.isAtLeast8_12, usesTLS.load(ordering: .relaxed) { _ = Unmanaged.passRetained(session) }
        #endif
    }

    /// Runs a closure that may block on the session; on Linux that can take until the session's current work is done.
    func prepare(_ work: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
            preparation.async(execute: work)
        #else
            work()
        #endif
    }

    /// The methods whose requests say the length of their body, even if there is none.
    #if canImport(FoundationNetworking)
        private static let methodsWithLength: Set<String> = []
    #else
        private static let methodsWithLength: Set<String> = ["PATCH", "POST", "PUT"]
    #endif

    /// Creates a task of the session, whose events go to the exchange through the transfer.
    func makeTransfer(
        _ request: URLRequest, _ body: OutgoingBody, for exchange: Exchange, _ settings: SessionSettings,
        at handover: TimerInstant
    ) -> SessionTransfer {
        #if canImport(FoundationNetworking)
            if request.url?.scheme == "https" { usesTLS.store(true, ordering: .relaxed) }
        #endif
        let task: URLSessionTask =
            switch body.source {
            // A data task says no length, and some servers insist on one.
            case .none where Self.methodsWithLength.contains(request.httpMethod ?? ""):
                session.uploadTask(with: request, from: Data())
            case .none: session.dataTask(with: request)
            case .data(let data): session.uploadTask(with: request, from: data)
            case .file(let url): session.uploadTask(with: request, fromFile: url)
            case .content(let content, let length): session.dataTask(with: request.streaming(content, length: length))
            }
        #if !canImport(FoundationNetworking)
            if isShared { task.delegate = delegate }
        #endif
        let transfer = SessionTransfer(
            task, on: self, settings, for: exchange, body, at: handover)
        delegate.connect(transfer, to: task)
        return transfer
    }
}

/// Passes each event of the session to its transfer.
///
/// The session retains its delegate. The delegate retains transfers, which end, but not the loader, so the session does not keep
/// a loader alive.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Locked<[Int: SessionTransfer]>([:])
    private let answersChallenges: Bool

    /// Makes a delegate that answers questions of trust, or leaves them to the delegate of an app's session.
    init(answersChallenges: Bool) {
        self.answersChallenges = answersChallenges
        super.init()
    }

    #if !canImport(FoundationNetworking)
        /// Hides the method for challenges if it has to: a task's delegate is asked before that of its session, which may check pins.
        override func responds(to selector: Selector!) -> Bool {
            if !answersChallenges, selector == Self.challenge { return false }
            return super.responds(to: selector)
        }

        private static var challenge: Selector {
            NSSelectorFromString("URLSession:task:didReceiveChallenge:completionHandler:")
        }
    #endif

    func connect(_ transfer: SessionTransfer, to task: URLSessionTask) {
        let number = task.taskIdentifier
        transfers.withLock { $0[number] = transfer }
    }

    private func transfer(of task: URLSessionTask) -> SessionTransfer? {
        let number = task.taskIdentifier
        return transfers.withLock { $0[number] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The exchange follows redirects itself, each with a new task.
        guard let transfer = transfer(of: task) else { return completionHandler(nil) }
        transfer.answer { completionHandler(nil) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let transfer = transfer(of: task) else { return completionHandler(.performDefaultHandling, nil) }
        transfer.receive(challenge, answer: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // The session also calls this for requests without a body.
        completionHandler(transfer(of: task)?.bodyIsNeededAgain())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(of: task)?.didSend(bytesSent)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    #if !canImport(FoundationNetworking)
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            transfer(of: task)?.receive(metrics)
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let number = task.taskIdentifier
        let transfer = transfers.withLock { $0.removeValue(forKey: number) }
        transfer?.ended(task.response, error)
    }
}

// MARK: - The settings of a session

/// The settings of a loader, as taken from its session's configuration.
struct SessionSettings: @unchecked Sendable {
    // A private copy that never changes, so it is safe to send.
    let configuration: URLSessionConfiguration
    /// Header fields for every request, which the loader adds, because the session would send them to the host of a redirect too.
    let headers: HTTPHeaders
    /// The maximum idle time of an exchange.
    let timeout: Duration
    /// The maximum total time of an exchange.
    let resourceTimeout: Duration
    let trust: SessionTrust
    /// Whether a proxy may answer in place of the origin.
    let mayTunnel: Bool

    init(
        _ configuration: URLSessionConfiguration, trust: SessionTrust = .system,
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
            // Otherwise the session would parse the cookies of every line of a head.
            copy.httpCookieAcceptPolicy = .never
            // With a cache, the session traps if a task is cancelled as it ends.
            copy.urlCache = nil
            copy.urlCredentialStorage = nil
        #else
            mayTunnel = false
            trust.apply(to: copy)
        #endif
        timeout = .seconds(clamping: copy.timeoutIntervalForRequest)
        resourceTimeout = .seconds(clamping: copy.timeoutIntervalForResource)
        #if canImport(FoundationNetworking)
            // The session converts this to an integer for every request, which traps if it is infinite, before it looks at the
            // request's own timeout.
            copy.timeoutIntervalForRequest = 60
        #endif
        self.configuration = copy
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

    /// The libcurl that the system's sessions use.
    enum SystemCurl {
        /// Whether it is new enough to end the process if a session is freed that had a connection over TLS.
        ///
        /// From 8.12, it waits for the last message of such a connection, and asks the session, which is being deinitialized, to
        /// watch its socket. So such a session is never freed. It also asks before it sends an empty stream again.
        static let isAtLeast8_12 = (version ?? 0) >= 0x08_0C_00

        /// The version as libcurl states it, with a byte for each number; nil if it is linked into the program.
        private static var version: UInt32? {
            typealias VersionInfo = @convention(c) (Int32) -> UnsafeRawPointer?
            guard let symbol = dlsym(nil, "curl_version_info") else { return nil }
            // The number comes after an integer and a pointer to the version as a text.
            let offset = 2 * MemoryLayout<UnsafeRawPointer>.size
            return unsafeBitCast(symbol, to: VersionInfo.self)(0)?.load(fromByteOffset: offset, as: UInt32.self)
        }
    }
#endif
