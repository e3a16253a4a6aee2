import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    /// Sends the task's own request, or the request of a redirect.
    func begin(_ request: HTTPRequest, redirects: Int) {
        var request = request
        // The session only supports schemes in lower case.
        let scheme = request.scheme.lowercased()
        if scheme != request.scheme { request.scheme = scheme }
        // A cache earlier in the chain uses the cookies in the response's request to decide whose response it is.
        request = request.addingCookies()
        transfer = Transfer(
            request: request, redirects: redirects, begin: redirects == 0 ? startInstant : owner.timers.now)
        if let reason = reasonNotToSend(request) { return fail(.invalidRequest, reason: reason) }
        if let reason = owner.settings.trust.options.reasonNotToSend(request) {
            return fail(.insecureConnection, reason: reason)
        }
        do throws(HTTPError) {
            let encoded = try request.encoded(bodyIsForbiddenFor: [.get, .head, .trace])
            let urlRequest = URLRequest(encoded)
            guard urlRequest.httpMethod == encoded.method.rawValue else {
                return fail(
                    .invalidRequest,
                    reason:
                        "The session would send the method \(encoded.method) in upper case, which is a different method; write it in upper case, or rename it"
                )
            }
            if let body = OutgoingBody(encoded.content) { return send(urlRequest, encoded, body) }
            // Reading a whole body can take long, so it does not happen on the caller's thread.
            DispatchQueue.global().async { self.assemble(urlRequest, encoded) }
        } catch {
            var error = error
            error.loader = loader
            finish(.failure(error))
        }
    }

    private func assemble(_ urlRequest: URLRequest, _ encoded: EncodedRequest) {
        do {
            let file = try AssembledBody.write(encoded.content) { [state] in state.withLock { $0.isStopped } }
            // No file means that the exchange was stopped, and the code that stopped it has ended it.
            guard let file else { return }
            do {
                send(urlRequest, encoded, try OutgoingBody(temporaryFile: file))
            } catch {
                TemporaryFile.remove(file)
                throw error
            }
        } catch SinkError.storage(let reason) {
            fail(.invalidRequest, reason: "The body could not be prepared for sending. \(reason)")
        } catch {
            fail(.invalidRequest, underlyingError: error, reason: "The body could not be prepared for sending")
        }
    }

    private func send(_ urlRequest: URLRequest, _ encoded: EncodedRequest, _ body: OutgoingBody) {
        transfer.hasBody = body.hasBytes
        transfer.bodyFile = body.temporaryFile
        transfer.bytesToSend = encoded.content.length
        let session = owner.session(for: encoded.method, hasBody: body.hasBytes)
        transfer.control = session.control
        session.prepare { [self] in
            // While the session was stuck, the exchange may have ended.
            guard !state.withLock({ $0.isOver }) else {
                if let file = body.temporaryFile { TemporaryFile.remove(file) }
                return
            }
            transfer.handover = owner.timers.now
            let sessionTask = session.makeTask(urlRequest, body: body, for: self)
            switch state.withLock({ $0.begin(sessionTask) }) {
            case .resume: sessionTask.resume()
            case .cancel: cancel(sessionTask)
            }
        }
    }

    private func reasonNotToSend(_ request: HTTPRequest) -> String? {
        if request.scheme != "http", request.scheme != "https" { return "The scheme is neither http nor https" }
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
        return nil
    }

    // MARK: Callbacks of the session

    func didSend(_ bytes: Int64) {
        noteActivity()
        transfer.bytesSent += bytes
        progress?.report(transfer.progress)
    }

    /// Called when the session wants to send the body again from its beginning.
    ///
    /// This happens when a reused connection turns out to be dead. On Linux, the session would continue at the current position of
    /// the stream, and so send only the end of the body.
    func bodyIsNeededAgain() {
        if transfer.hasBody { stop(.bodyNeededAgain) }
    }
}
