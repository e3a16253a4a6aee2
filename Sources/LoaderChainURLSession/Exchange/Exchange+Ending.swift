import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    /// Hears from the session that the transfer is over, for better or worse.
    func transferEnded(_ urlResponse: URLResponse?, _ failure: (any Error)?) {
        if let file = transfer.bodyFile { TemporaryFile.remove(file) }
        // On Linux a redirect without a usable address is only shown at the end.
        if transfer.response == nil, failure == nil, let urlResponse { receive(urlResponse) }
        switch state.withLock({ $0.transferEnded() }) {
        case .irrelevant:
            transfer.sink?.discard()
        case .stopped(let reason):
            transfer.sink?.discard()
            finish(.failure(error(for: reason, response: responseSoFar)))
        case .asItCame:
            if let failure, !isRefusedChallenge(failure) {
                transfer.sink?.discard()
                finish(.failure(error(for: failure)))
            } else {
                arrived()
            }
        }
    }

    /// Whether the end is the one that follows a challenge that was turned down: the response is there.
    private func isRefusedChallenge(_ failure: any Error) -> Bool {
        transfer.refusedChallenge && transfer.response != nil && (failure as? URLError)?.code == .cancelled
    }

    private func arrived() {
        guard let response = responseSoFar else {
            return fail(.invalidResponse, reason: "The session ended the transfer without a response")
        }
        if let next = transfer.next { follow(next, from: response) } else { succeed(with: response) }
    }

    private func succeed(with response: HTTPResponse) {
        // Before the file is in its place, so that no exchange leaves one behind that was stopped at the last moment.
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
            // Before anybody hears of the end: nothing is left behind by then.
            transfer.sink?.discard()
            finish(.failure(self.error(for: .refused(error), response: response)), end)
        }
    }

    // MARK: Redirects

    private func follow(_ next: HTTPRequest, from response: HTTPResponse) {
        switch transfer.request.redirects {
        case .refuse:
            succeed(with: response)
        case .follow(let limit):
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
                reason: "It was redirected more than \(limit) times; allow more, or look for a loop")
        }
        guard next.body.isEmpty || next.body.canBeSentAgain else {
            return fail(
                .invalidRequest, response: response,
                reason: "The server wants the body at another place, and a stream cannot be sent twice; send a file")
        }
        // Making a task waits for the session, whose thread this is.
        host.control.async { self.begin(next, redirects: redirects) }
    }

    // MARK: What is known by now

    /// The response without its body.
    private var responseSoFar: HTTPResponse? {
        guard var response = transfer.response else { return nil }
        response.metrics = metrics(until: host.timers.now)
        return response
    }

    func metrics(until end: TimerInstant) -> TransferMetrics {
        var metrics = TransferMetrics(
            start: startDate, timeToFirstByte: transfer.firstByte.map { startInstant.duration(to: $0) },
            duration: startInstant.duration(to: end), bytesSent: transfer.bytesSent,
            bytesReceived: transfer.bytesReceived, redirects: transfer.redirects)
        #if !canImport(FoundationNetworking)
            if let last = transfer.platformMetrics?.transactionMetrics.last {
                metrics.networkProtocol = last.networkProtocolName
                metrics.reusedConnection = last.isReusedConnection
            }
        #endif
        return metrics
    }
}
