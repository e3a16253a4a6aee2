import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
        if let next = transfer.next { follow(next, from: response) } else { succeed(with: response) }
    }

    private func succeed(with response: HTTPResponse) {
        // End the exchange before moving the file into place: an exchange that is stopped now must not leave one behind.
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

    private func follow(_ next: HTTPRequest, from response: HTTPResponse) {
        switch transfer.request.redirects {
        case .refuse:
            succeed(with: response)
        case .follow(let limit):
            guard !RedirectRule.isDowngrade(from: transfer.request, to: next) else {
                return fail(
                    .insecureConnection, response: response,
                    reason: "The redirect leads from https to http; follow it with .ask if that is meant")
            }
            follow(next, from: response, limit: limit)
        case .ask(let ask):
            courier.async { [self] in
                if let chosen = ask(response, next) {
                    follow(chosen, from: response, limit: RedirectPolicy.usualLimit)
                } else {
                    succeed(with: response)
                }
            }
        }
    }

    private func follow(_ next: HTTPRequest, from response: HTTPResponse, limit: Int) {
        let redirects = transfer.redirects + 1
        guard redirects <= limit else {
            return fail(
                .tooManyRedirects, response: response,
                reason: "There were more than \(limit) redirects; allow more, or look for a loop")
        }
        guard next.body.isEmpty || next.body.canBeSentAgain else {
            return fail(
                .invalidRequest, response: response,
                reason: "The redirect needs the body again, and a stream can be sent only once; send a file instead")
        }
        // Making a task waits for the session, and this is the session's own thread.
        (transfer.control ?? .global()).async { self.begin(next, redirects: redirects) }
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
