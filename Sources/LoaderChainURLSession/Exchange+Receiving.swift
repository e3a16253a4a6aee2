import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    func receive(_ urlResponse: URLResponse) {
        noteActivity()
        guard let urlResponse = urlResponse as? HTTPURLResponse else { return }
        let status = HTTPStatus(urlResponse.statusCode)
        // An interim response, such as 103 Early Hints; the final one is still to come.
        if status.isInformational, status != .switchingProtocols { return }

        let response = HTTPResponse(request: transfer.request, status: status, headers: HTTPHeaders(urlResponse))
        if state.withLock({ $0.pipe != nil }) { return stop(.secondHead) }
        // After a proxy's success response, the next head is the origin's.
        let isOrigins = replace(&transfer.heldHead, with: nil)?.status.isSuccess == true
        if !isOrigins, mayBeProxyAnswer(response) { transfer.heldHead = response } else { accept(response) }
    }

    private func mayBeProxyAnswer(_ response: HTTPResponse) -> Bool {
        owner.settings.mayTunnel && transfer.request.scheme.lowercased() == "https" && ProxyAnswer.mayBe(response)
    }

    /// Accepts a held head, because what followed shows that it is the response's.
    private func acceptHeldHead() {
        if let head = replace(&transfer.heldHead, with: nil) { accept(head) }
    }

    private func accept(_ response: HTTPResponse) {
        let status = response.status
        response.keepCookies()
        transfer.response = response
        transfer.firstByte = owner.timers.now
        noteHead()
        transfer.bytesToReceive = announcedLength(response)
        progress?.report(transfer.progress)
        if case .refuse = transfer.request.redirects {
            transfer.next = nil
        } else {
            transfer.next = RedirectRule.next(
                after: status, location: response.headers["Location"], from: transfer.request)
        }
        do throws(SinkError) {
            let sink = try destination(for: response)
            transfer.sink = sink
            if let pipe = sink as? ChunkPipe { deliver(response, reading: pipe) }
        } catch {
            stop(.refused(error))
        }
    }

    func receive(_ data: Data) {
        noteActivity()
        acceptHeldHead()
        transfer.bytesReceived += Int64(data.count)
        do throws(SinkError) {
            try transfer.sink?.write(data)
        } catch {
            transfer.sink?.discard()
            transfer.sink = nil
            stop(.refused(error))
        }
        progress?.report(transfer.progress)
    }

    func receive(
        _ challenge: URLAuthenticationChallenge,
        answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Any other answer would leave the task waiting indefinitely. The response has arrived and is kept. The answer
            // cancels the session's task, which must not happen on the session's own queues.
            transfer.refusedChallenge = true
            transfer.control?.async { answer(.cancelAuthenticationChallenge, nil) }
        #else
            let (disposition, credential) = owner.settings.trust.answer(to: challenge)
            answer(disposition, credential)
        #endif
    }

    #if !canImport(FoundationNetworking)
        func receive(_ metrics: URLSessionTaskMetrics) { transfer.platformMetrics = metrics }
    #endif

    // MARK: The destination of the body

    private func destination(for response: HTTPResponse) throws(SinkError) -> any ResponseSink {
        var delivery = transfer.request.delivery
        if transfer.next != nil {
            // The user's closure may decide to return the redirect as the response, which then needs its body.
            guard case .ask = transfer.request.redirects else { return IgnoringSink() }
            delivery = .inMemory
        }
        return try makeSink(
            for: response, delivery: delivery, limit: owner.settings.responseSizeLimit,
            announced: transfer.bytesToReceive, onLeave: { [weak self] in self?.stop(.readerLeft) })
    }

    /// The number of bytes that will arrive, if the head announces it.
    ///
    /// For an encoded body, Content-Length counts the encoded bytes, and the session delivers decoded ones.
    private func announcedLength(_ response: HTTPResponse) -> Int64? {
        guard transfer.request.method != .head, !response.headers.contains("Content-Encoding"),
            let length = response.headers["Content-Length"].flatMap({ Int64($0) }), length >= 0
        else { return nil }
        return length
    }

    private func deliver(_ response: HTTPResponse, reading pipe: ChunkPipe) {
        guard state.withLock({ $0.attach(pipe) }) else {
            // The exchange was stopped, so no reader will come.
            transfer.sink = nil
            return
        }
        var response = response
        response.metrics = metrics(until: transfer.firstByte ?? startInstant, isWhole: false)
        response.chunks = ResponseChunks(next: { try await pipe.next() }, onDrop: { pipe.drop() })
        courier.async { [self, response] in complete(.success(response)) }
    }
}

// MARK: - The end of the session's task

extension Exchange {
    /// Called when the session's task has ended, with or without an error.
    func sessionTaskEnded(_ urlResponse: URLResponse?, _ failure: (any Error)?) {
        if let file = transfer.bodyFile { TemporaryFile.remove(file) }
        // On Linux a redirect without a usable address is only shown at the end.
        if transfer.response == nil, failure == nil, let urlResponse { receive(urlResponse) }
        switch state.withLock({ $0.sessionTaskEnded() }) {
        case .irrelevant:
            transfer.sink?.discard()
        case .stopped(let reason):
            transfer.sink?.discard()
            finish(.failure(error(for: reason, of: transfer.request, response: responseSoFar)))
        case .asItCame:
            // A failure after a held head shows that the head was a proxy's.
            if failure == nil || transfer.refusedChallenge, let head = transfer.heldHead {
                guard ProxyAnswer.isWholeResponse(head) else {
                    return fail(
                        .invalidResponse,
                        reason:
                            "Only a proxy's answer arrived: through a proxy, URLSession hides redirects on this system")
                }
                acceptHeldHead()
            }
            if let failure, !isRefusedChallenge(failure) {
                transfer.sink?.discard()
                finish(.failure(error(for: failure)))
            } else {
                arrived()
            }
        }
    }

    /// Whether the task ended only because a challenge was refused: the response has arrived then.
    private func isRefusedChallenge(_ failure: any Error) -> Bool {
        transfer.refusedChallenge && transfer.response != nil && (failure as? URLError)?.code == .cancelled
    }

    private func arrived() {
        guard let response = responseSoFar else {
            return fail(.invalidResponse, reason: "The session ended its task without a response")
        }
        guard let next = transfer.next else { return succeed(with: response) }
        let step = RedirectStep(
            transfer.request.redirects, response, next: next, followed: transfer.redirects)
        carryOut(step, from: response)
    }

    private func succeed(with response: HTTPResponse) {
        // End the exchange before moving the file into place, so that an exchange that is stopped now leaves no file behind.
        guard let end = state.withLock({ $0.end() }) else {
            transfer.sink?.discard()
            return
        }
        var response = response
        do throws(SinkError) {
            switch try transfer.sink?.finish() ?? .nothing {
            case .nothing: break
            case .data(let data): response.body = data
            case .file(let url): response.file = url
            }
            finish(.success(response), end)
        } catch {
            // Clean up before completing the task, so that the caller finds nothing left behind.
            transfer.sink?.discard()
            finish(.failure(self.error(for: .refused(error), of: transfer.request, response: response)), end)
        }
    }

    // MARK: Redirects

    private func carryOut(_ step: RedirectStep, from response: HTTPResponse) {
        switch step {
        case .deliver:
            succeed(with: response)
        case .follow(let next):
            // Making a task waits for the session, and this may be the session's own thread.
            (transfer.control ?? .global()).async { [self] in begin(next, redirects: transfer.redirects + 1) }
        case .ask(let ask):
            courier.async { [self] in
                let chosen = ask().map { RedirectStep(chosen: $0, followed: transfer.redirects) }
                carryOut(chosen ?? .deliver, from: response)
            }
        case .fail(let code, let reason):
            fail(code, response: response, reason: reason)
        }
    }

    // MARK: The response so far

    /// The response without its body.
    private var responseSoFar: HTTPResponse? {
        guard var response = transfer.response else { return nil }
        response.metrics = metrics(until: owner.timers.now, isWhole: true)
        return response
    }

    /// The measurements of the exchange.
    ///
    /// - Parameter isWhole: whether the body has arrived.
    func metrics(until end: TimerInstant, isWhole: Bool) -> TransferMetrics {
        var metrics = TransferMetrics(
            start: startDate, timeToFirstByte: transfer.firstByte.map { startInstant.duration(to: $0) },
            duration: startInstant.duration(to: end), bytesSent: transfer.bytesSent,
            bytesReceived: transfer.bytesReceived, redirects: transfer.redirects)
        #if !canImport(FoundationNetworking)
            if let last = transfer.platformMetrics?.transactionMetrics.last {
                metrics.networkProtocol = last.networkProtocolName
                metrics.reusedConnection = last.isReusedConnection
                metrics.phases = TransferPhases(last)
                return metrics
            }
        #endif
        guard let handover = transfer.handover, let firstByte = transfer.firstByte else { return metrics }
        metrics.phases = TransferPhases(
            queue: transfer.begin.duration(to: handover), waiting: handover.duration(to: firstByte),
            receiving: isWhole ? firstByte.duration(to: end) : nil)
        return metrics
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
    static func mayBe(_ response: HTTPResponse) -> Bool {
        !response.status.isSuccess
            || !(response.headers.contains("Content-Type") || response.headers.contains("Transfer-Encoding"))
    }

    /// Whether a head that nothing followed is a response without a body.
    ///
    /// Otherwise it is a proxy's, and the session has hidden a redirect after it. A proxy opens a tunnel with 200, and some
    /// proxies add a length of zero. An origin sends a date, or the length of the response to a GET.
    static func isWholeResponse(_ response: HTTPResponse) -> Bool {
        response.status != .ok || response.headers.contains("Date")
            || response.headers["Content-Length"].map { Int64($0) != 0 } ?? false
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
