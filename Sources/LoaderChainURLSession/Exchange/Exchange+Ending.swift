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
        guard let next = transfer.next else { return succeed(with: response) }
        let step = RedirectStep(
            transfer.request.redirects, response, next: next, followed: transfer.redirects)
        carryOut(step, from: response)
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
