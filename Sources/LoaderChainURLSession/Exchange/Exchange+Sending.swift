import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    /// Sends the task's own request, or the one that a redirect leads to.
    func begin(_ request: HTTPRequest, redirects: Int) {
        transfer = Transfer(request: request, redirects: redirects)
        if let reason = reasonNotToSend(request) { return fail(.invalidRequest, reason: reason) }
        if let reason = owner.settings.serverTrust.reasonNotToConnect(to: request) {
            return fail(.insecureConnection, reason: reason)
        }
        do throws(HTTPError) {
            let encoded = try request.encoded(bodyIsForbiddenFor: [.get, .head, .trace])
            if let body = OutgoingBody(encoded.content) { return send(encoded, body) }
            // Reading a whole body can take long, so it is not done on the caller's thread.
            DispatchQueue.global().async { self.assemble(encoded) }
        } catch {
            var error = error
            error.loader = loader
            finish(.failure(error))
        }
    }

    private func assemble(_ encoded: EncodedRequest) {
        do {
            let file = try AssembledBody.write(encoded.content) { [state] in state.withLock { $0.isStopped } }
            // Without a file, the exchange was stopped, and the code that stopped it has ended it.
            if let file { send(encoded, try OutgoingBody(temporaryFile: file)) }
        } catch SinkError.storage(let reason) {
            fail(.invalidRequest, reason: "The body could not be prepared for sending. \(reason)")
        } catch {
            fail(.invalidRequest, underlyingError: error, reason: "The body could not be prepared for sending")
        }
    }

    private func send(_ encoded: EncodedRequest, _ body: OutgoingBody) {
        transfer.hasBody = body.hasBytes
        transfer.bodyFile = body.temporaryFile
        transfer.bytesToSend = encoded.content.length
        owner.outsideTheSession { [self] in
            let sessionTask = owner.makeTask(URLRequest(encoded), body: body, for: self)
            switch state.withLock({ $0.begin(sessionTask) }) {
            case .resume: sessionTask.resume()
            case .cancel: cancel(sessionTask)
            }
        }
    }

    private func reasonNotToSend(_ request: HTTPRequest) -> String? {
        let scheme = request.scheme.lowercased()
        if scheme != "http", scheme != "https" { return "The scheme is neither http nor https" }
        #if canImport(FoundationNetworking)
            if request.cachePolicy == .returnCacheDataDontLoad {
                return "There is no cache on this platform; use another cache policy"
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
    /// It asks when a reused connection turns out to be dead. On Linux it would go on from where the stream is by then,
    /// and so send only the end of the body.
    func bodyIsNeededAgain() {
        if transfer.hasBody { stop(.bodyNeededAgain) }
    }
}
