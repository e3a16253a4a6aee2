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
        // Behind a proxy's consent, the next head is the origin's.
        let isOrigins = replace(&transfer.heldHead, with: nil)?.status.isSuccess == true
        if !isOrigins, mayBeProxyAnswer(response) { transfer.heldHead = response } else { accept(response) }
    }

    private func mayBeProxyAnswer(_ response: HTTPResponse) -> Bool {
        owner.settings.mayTunnel && transfer.request.scheme.lowercased() == "https" && ProxyAnswer.mayBe(response)
    }

    /// Takes a head that was held, since what followed shows that it is the response's.
    func acceptHeldHead() {
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
            let sink = try makeSink(for: response)
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
            // Any other answer would leave the task waiting forever. The response has arrived and is kept. The answer
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

    private func makeSink(for response: HTTPResponse) throws(SinkError) -> any ResponseSink {
        if transfer.next != nil {
            // The user's closure may decide to return the redirect as the response, which then needs its body.
            if case .ask = transfer.request.redirects { return try memorySink(upTo: owner.settings.responseSizeLimit) }
            return IgnoringSink()
        }
        switch transfer.request.delivery {
        case .inMemory(let limit):
            return try memorySink(upTo: max(0, limit ?? owner.settings.responseSizeLimit))
        case .file(let url):
            guard response.status.isSuccess else { return try memorySink(upTo: owner.settings.responseSizeLimit) }
            return try FileSink(url)
        case .chunks:
            return ChunkPipe { [weak self] in self?.stop(.readerLeft) }
        }
    }

    private func memorySink(upTo limit: Int) throws(SinkError) -> MemorySink {
        let announced = transfer.bytesToReceive ?? 0
        if announced > limit { throw .tooLarge(announced: announced, limit: limit) }
        return MemorySink(limit: limit, announced: Int(announced))
    }

    /// How many bytes will arrive, if the head says so.
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
