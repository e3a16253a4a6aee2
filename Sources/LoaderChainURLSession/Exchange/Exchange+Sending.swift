import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Exchange {
    /// Sends a request: the task's own, or one that a redirect leads to.
    func begin(_ request: HTTPRequest, redirects: Int) {
        transfer = Transfer(request: request, redirects: redirects)
        if let reason = reasonNotToSend(request) { return fail(.invalidRequest, reason: reason) }
        if let reason = host.settings.serverTrust.reasonNotToConnect(to: request) {
            return fail(.insecureConnection, reason: reason)
        }
        do throws(HTTPError) {
            let encoded = try request.encoded(bodyIsForbiddenFor: [.get, .head, .trace])
            if let body = OutgoingBody(encoded.content) { return send(encoded, body) }
            // Reading a body through takes as long as it takes, so it is not done on the caller's thread.
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
            // Without a file the exchange was stopped, and whoever stopped it has ended it.
            if let file { send(encoded, try OutgoingBody(temporaryFile: file)) }
        } catch SinkError.storage(let reason) {
            fail(.invalidRequest, reason: "The body could not be made ready to be sent. \(reason)")
        } catch {
            fail(.invalidRequest, underlyingError: error, reason: "The body could not be made ready to be sent")
        }
    }

    private func send(_ encoded: EncodedRequest, _ body: OutgoingBody) {
        transfer.hasBody = body.hasBytes
        transfer.bodyFile = body.temporaryFile
        transfer.bytesToSend = encoded.content.length
        host.outsideTheSession { [self] in
            let sessionTask = host.makeTask(URLRequest(encoded), body: body, for: self)
            switch state.withLock({ $0.begin(sessionTask) }) {
            case .resume: sessionTask.resume()
            case .cancel: cancel(sessionTask)
            }
        }
    }

    private func reasonNotToSend(_ request: HTTPRequest) -> String? {
        let scheme = request.scheme.lowercased()
        if scheme != "http", scheme != "https" { return "The scheme is neither http nor https; use one of them" }
        #if canImport(FoundationNetworking)
            if request.cachePolicy == .returnCacheDataDontLoad {
                return "There is no cache on this platform; use another cache policy"
            }
        #endif
        return nil
    }

    // MARK: What the session says

    func didSend(_ bytes: Int64) {
        showsSign()
        transfer.bytesSent += bytes
        progress?.report(transfer.progress)
    }

    /// Hears that the session wants the body from its beginning.
    ///
    /// It does so when a kept connection turns out to be dead. On Linux it would go on with the body's end alone.
    func bodyIsNeededAgain() {
        if transfer.hasBody { stop(.bodyNeededAgain) }
    }
}
