import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A task of the session, whose events it passes to its exchange.
///
/// Its state needs no lock, because one thread at a time owns it: first the thread that starts the task, then the session's.
final class SessionTransfer: Transfer, @unchecked Sendable {
    private let task: URLSessionTask
    private let session: LiveSession
    private let body: OutgoingBody
    private let settings: SessionSettings
    /// The time at which the exchange began, and the time at which the session got the request.
    private let (begin, handover): (TimerInstant, TimerInstant)
    /// The exchange, until the task ends: an exchange keeps its transfer.
    private var exchange: Exchange?

    /// A head that may be a proxy's answer to CONNECT, until something follows it.
    private(set) var heldHead: (status: HTTPStatus, headers: HTTPHeaders)?
    /// Whether an authentication challenge was refused; the session then reports its task as cancelled.
    private var refusedChallenge = false
    /// Whether the server was not the one to talk to; the session reports that as a cancel too.
    private var refusedTrust = false
    #if !canImport(FoundationNetworking)
        private var platformMetrics: URLSessionTaskMetrics?
    #endif

    init(
        _ task: URLSessionTask, on session: LiveSession, _ settings: SessionSettings, for exchange: Exchange,
        _ body: OutgoingBody, at handover: TimerInstant
    ) {
        self.task = task
        self.session = session
        self.exchange = exchange
        self.body = body
        self.settings = settings
        begin = exchange.legBegin
        self.handover = handover
    }

    func resume() { task.resume() }

    /// Cancels on a queue: cancelling waits for the session, which may be waiting for its delegate, whose thread this may be.
    func cancel() {
        session.control.async { [task] in task.cancel() }
    }

    // MARK: Sending

    func didSend(_ bytes: Int64) { exchange?.didSend(bytes) }

    /// Called when the session wants to send the body again from its beginning, and returns a stream that fails.
    ///
    /// This happens when a reused connection turns out to be dead. On Linux, the session would continue at the current position of
    /// the stream, and so send only the end of the body; it traps if it gets a stream for a body of data.
    func bodyIsNeededAgain() -> InputStream? {
        guard body.hasBytes else { return nil }
        exchange?.stop(.bodyNeededAgain)
        #if canImport(FoundationNetworking)
            if case .content = body.source { return FailingInputStream() }
        #endif
        return nil
    }

    /// Runs a closure that answers the session, unless the task was cancelled.
    func answer(_ answer: () -> Void) { exchange?.answer(answer) }

    func receive(
        _ challenge: URLAuthenticationChallenge,
        answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Any other answer would leave the task waiting indefinitely. The response has arrived and is kept. The answer
            // cancels the session's task, which must not happen on the session's own queues.
            refusedChallenge = true
            session.control.async { answer(.cancelAuthenticationChallenge, nil) }
        #else
            let (disposition, credential) = settings.trust.answer(to: challenge)
            if disposition == .cancelAuthenticationChallenge { refuseTrust() }
            answer(disposition, credential)
        #endif
    }

    /// Notes that the server's certificate is not accepted.
    func refuseTrust() { refusedTrust = true }

    // MARK: Receiving

    func receive(_ urlResponse: URLResponse) {
        guard let exchange, let urlResponse = urlResponse as? HTTPURLResponse else { return }
        exchange.noteActivity()
        let status = HTTPStatus(urlResponse.statusCode)
        // An interim response, such as 103 Early Hints; the final one is still to come.
        if status.isInformational, status != .switchingProtocols { return }

        let headers = HTTPHeaders(urlResponse)
        if exchange.isBeingRead { return exchange.stop(.secondHead) }
        // After a proxy's success response, the next head is the origin's.
        let isOrigins = replace(&heldHead, with: nil)?.status.isSuccess == true
        let mayBeProxys =
            settings.mayTunnel && exchange.currentRequest.scheme == "https" && ProxyAnswer.mayBe(status, headers)
        if !isOrigins, mayBeProxys { heldHead = (status, headers) } else { exchange.receive(status, headers) }
    }

    /// Accepts a held head, because what followed shows that it is the response's.
    private func acceptHeldHead() {
        if let head = replace(&heldHead, with: nil) { exchange?.receive(head.status, head.headers) }
    }

    func receive(_ data: Data) {
        acceptHeldHead()
        exchange?.receive(data)
    }

    // MARK: The end

    /// Called when the session's task has ended, with or without an error.
    func ended(_ urlResponse: URLResponse?, _ failure: (any Error)?) {
        guard let exchange else { return }
        // On Linux a redirect without a usable address is only shown at the end; after a proxy's answer, only that answer is.
        if exchange.head == nil, heldHead == nil, failure == nil, let urlResponse { receive(urlResponse) }
        exchange.ended { self.ending(of: exchange, failure) }
        self.exchange = nil
    }

    private func ending(of exchange: Exchange, _ failure: (any Error)?) -> TransferEnding {
        if refusedTrust {
            return .failed(
                TransferFailure(
                    .insecureConnection, "The server's certificate is not trusted, or has none of the pinned keys",
                    underlyingError: failure))
        }
        // A failure after a held head shows that the head was a proxy's.
        if failure == nil || refusedChallenge, let head = heldHead {
            guard ProxyAnswer.isWholeResponse(head.status, head.headers) else {
                return .failed(
                    TransferFailure(
                        .invalidResponse,
                        "Only a proxy's answer arrived: through a proxy, URLSession hides redirects on this system"))
            }
            acceptHeldHead()
        }
        guard let failure else { return .arrived(trailers: [:]) }
        // The task ended only because a challenge was refused: the response has arrived then.
        if refusedChallenge, exchange.head != nil, (failure as? URLError)?.code == .cancelled {
            return .arrived(trailers: [:])
        }
        return .failed(TransferFailure(failure, of: exchange.currentRequest, afterHead: exchange.head != nil))
    }

    // MARK: What was measured

    #if !canImport(FoundationNetworking)
        func receive(_ metrics: URLSessionTaskMetrics) { platformMetrics = metrics }
    #endif

    func measure(_ metrics: inout TransferMetrics, firstByte: TimerInstant?, until end: TimerInstant, isWhole: Bool) {
        #if !canImport(FoundationNetworking)
            if let last = platformMetrics?.transactionMetrics.last {
                metrics.networkProtocol = last.networkProtocolName
                metrics.reusedConnection = last.isReusedConnection
                metrics.phases = TransferPhases(last)
                return
            }
        #endif
        guard let firstByte else { return }
        metrics.phases = TransferPhases(
            queue: begin.duration(to: handover), waiting: handover.duration(to: firstByte),
            receiving: isWhole ? firstByte.duration(to: end) : nil)
    }
}

// MARK: - A proxy's answer

/// Distinguishes a proxy's answer to CONNECT from the response of the origin.
///
/// On Linux, the session delivers both as heads of responses, and on a reused connection only the second. What follows
/// distinguishes them: after a proxy's answer comes another head or a failure, never a byte of a body. So a head that may be a
/// proxy's is held until something follows.
enum ProxyAnswer {
    /// Whether requests over https may go through a proxy, according to the environment variables that libcurl uses.
    static func isPossible(in environment: [String: String]) -> Bool {
        ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { environment[$0]?.isEmpty == false }
    }

    /// Whether a proxy may have sent this head.
    ///
    /// A head that describes a body is the origin's, so that the head of an event stream is not held. A rejection may describe
    /// a body too: a proxy explains it with a page, which the session drops.
    static func mayBe(_ status: HTTPStatus, _ headers: HTTPHeaders) -> Bool {
        !status.isSuccess || !(headers.contains("Content-Type") || headers.contains("Transfer-Encoding"))
    }

    /// Whether a head that nothing followed is a response without a body.
    ///
    /// Otherwise it is a proxy's, and the session has hidden a redirect after it. A proxy opens a tunnel with 200, and some
    /// proxies add a length of zero. An origin sends a date, or the length of the response to a GET.
    static func isWholeResponse(_ status: HTTPStatus, _ headers: HTTPHeaders) -> Bool {
        status != .ok || headers.contains("Date") || headers["Content-Length"].map { Int64($0) != 0 } ?? false
    }
}

// MARK: - What the session measures

// Type-checked against stubs; unverified, since it has not run on an Apple system yet.
#if !canImport(FoundationNetworking)
    extension TransferPhases {
        /// The phases of one request, as measured by the session.
        init(_ metrics: URLSessionTaskTransactionMetrics) {
            self.init(
                queue: Self.time(
                    from: metrics.fetchStartDate,
                    to: metrics.domainLookupStartDate ?? metrics.connectStartDate ?? metrics.requestStartDate),
                nameLookup: Self.time(from: metrics.domainLookupStartDate, to: metrics.domainLookupEndDate),
                // The session includes the TLS handshake in the connection's time.
                connect: Self.time(
                    from: metrics.connectStartDate, to: metrics.secureConnectionStartDate ?? metrics.connectEndDate),
                secureConnection: Self.time(
                    from: metrics.secureConnectionStartDate, to: metrics.secureConnectionEndDate),
                sending: Self.time(from: metrics.requestStartDate, to: metrics.requestEndDate),
                waiting: Self.time(from: metrics.requestEndDate, to: metrics.responseStartDate),
                receiving: Self.time(from: metrics.responseStartDate, to: metrics.responseEndDate))
        }

        private static func time(from start: Date?, to end: Date?) -> Duration? {
            guard let start, let end else { return nil }
            // The wall clock may have changed meanwhile.
            return .seconds(min(max(0, end.timeIntervalSince(start)), 365 * 86_400))
        }
    }
#endif
