import Dispatch
import LoaderChainPlatformFoundation

extension Exchange {
    /// Takes the head of the response, which is final, and returns whether anybody wants its body.
    @discardableResult
    package func receive(_ status: HTTPStatus, _ headers: HTTPHeaders) -> Bool {
        let now = owner.timers.now
        noteActivity(at: now)
        guard !isBeingRead else {
            stop(.secondHead)
            return false
        }
        let response = HTTPResponse(request: leg.request, status: status, headers: headers)
        response.keepCookies()
        leg.response = response
        leg.firstByte = now
        noteHead()
        leg.progress.bytesToReceive = announcedLength(response)
        progress?.report(leg.progress)
        if case .refuse = leg.request.redirects {
            leg.next = nil
        } else {
            leg.next = RedirectRule.next(after: status, location: response.headers["Location"], from: leg.request)
        }
        do throws(SinkError) {
            let sink = try destination(for: response)
            leg.sink = sink
            if let pipe = sink as? ChunkPipe { deliver(response, reading: pipe) }
        } catch {
            stop(.refused(error))
        }
        return wantsBody
    }

    /// Takes the next bytes of the body, and returns whether anybody wants more of them.
    @discardableResult
    package func receive(_ data: Data) -> Bool {
        noteActivity()
        leg.progress.bytesReceived += Int64(data.count)
        do throws(SinkError) {
            try leg.sink?.write(data)
        } catch {
            leg.sink?.discard()
            leg.sink = nil
            stop(.refused(error))
        }
        progress?.report(leg.progress)
        return wantsBody
    }

    /// Whether the rest of the body has a use; it has none for a redirect that is followed, or once the exchange is over.
    private var wantsBody: Bool {
        guard leg.sink != nil else { return false }
        return !state.withLock { $0.isOver }
    }

    // MARK: The destination of the body

    /// Where the body goes; nil for that of a redirect that is followed.
    private func destination(for response: HTTPResponse) throws(SinkError) -> (any ResponseSink)? {
        var delivery = leg.request.delivery
        if leg.next != nil {
            // The user's closure may decide to return the redirect as the response, which then needs its body.
            guard case .ask = leg.request.redirects else { return nil }
            delivery = .inMemory
        }
        return try makeSink(
            for: response, delivery: delivery, limit: owner.settings.responseSizeLimit,
            announced: leg.progress.bytesToReceive, makePipe: { makePipe(for: response) })
    }

    private func makePipe(for response: HTTPResponse) -> ChunkPipe {
        let (loader, name) = (loader, owner.settings.nameOfResourceTimeout)
        return ChunkPipe(onLeave: { [weak self] in self?.stop(.readerLeft) }) { error in
            HTTPError(
                .refused(error), of: response.request, response: response, nameOfResourceTimeout: name, loader: loader)
        }
    }

    /// The number of bytes that will arrive, if the head announces it.
    ///
    /// For an encoded body, Content-Length counts the encoded bytes, and the transport delivers decoded ones. Beside a
    /// Transfer-Encoding it has no meaning.
    private func announcedLength(_ response: HTTPResponse) -> Int64? {
        guard leg.request.method != .head, !response.headers.contains("Content-Encoding"),
            !response.headers.contains("Transfer-Encoding"),
            let length = response.headers["Content-Length"].flatMap({ Int64($0) }), length >= 0
        else { return nil }
        return length
    }

    private func deliver(_ response: HTTPResponse, reading pipe: ChunkPipe) {
        guard state.withLock({ $0.attach(pipe) }) else {
            // The exchange was stopped, so no reader will come.
            leg.sink = nil
            return
        }
        var response = response
        response.metrics = metrics(until: leg.firstByte ?? startInstant, isWhole: false)
        response.chunks = ResponseChunks(
            next: { try await pipe.next() }, trailers: { pipe.trailers }, onDrop: { pipe.drop() })
        courier.async { [self, response] in complete(.success(response)) }
    }

    // MARK: The end of a transfer

    /// Called when the transfer has ended, also if it was stopped; `ending` says how, and is called only if the exchange is not over.
    package func ended(_ ending: () -> TransferEnding) {
        removeBodyFile()
        switch state.withLock({ $0.transferEnded() }) {
        case .irrelevant:
            leg.sink?.discard()
        case .stopped(let reason):
            leg.sink?.discard()
            failAfterTransfer(error(for: reason, of: leg.request, response: responseSoFar(isWhole: true)))
        case .asItCame:
            switch ending() {
            case .arrived(let trailers): arrived(trailers)
            case .failed(let failure):
                leg.sink?.discard()
                failAfterTransfer(error(for: failure, response: responseSoFar(isWhole: false)))
            }
        }
    }

    private func failAfterTransfer(_ error: HTTPError) {
        if let end = state.withLock({ $0.end() }) { finishAfterTransfer(.failure(error), end) }
    }

    private func arrived(_ trailers: HTTPHeaders) {
        guard var response = responseSoFar(isWhole: true) else {
            let failure = TransferFailure(.invalidResponse, "The transfer ended without a response")
            return failAfterTransfer(error(for: failure, response: nil))
        }
        response.trailers = trailers
        if lacksBytes(of: response) {
            leg.sink?.discard()
            let failure = TransferFailure(.connectionLost, "The body is incomplete")
            return failAfterTransfer(error(for: failure, response: responseSoFar(isWhole: false)))
        }
        guard let next = leg.next else { return succeed(with: response) }
        carryOut(RedirectStep(leg.request.redirects, response, next: next, followed: leg.redirects), from: response)
    }

    /// Whether the body is shorter than its head says: over HTTP/2, older versions of libcurl take one that was cut for whole.
    private func lacksBytes(of response: HTTPResponse) -> Bool {
        #if canImport(Darwin)
            // The session is expected to compare the lengths, and the head might name that of an encoding that it has removed.
            return false
        #else
            guard let length = leg.progress.bytesToReceive, leg.progress.bytesReceived < length else { return false }
            // These have no body, or one that a session keeps for itself.
            return !response.status.isRedirection && response.status != .noContent
        #endif
    }

    private func succeed(with response: HTTPResponse) {
        // End the exchange before moving the file into place, so that an exchange that is stopped now leaves no file behind.
        guard let end = state.withLock({ $0.end() }) else {
            leg.sink?.discard()
            return
        }
        var response = response
        do throws(SinkError) {
            switch try leg.sink?.finish() ?? .nothing {
            case .nothing: break
            case .data(let data): response.body = data
            case .file(let url): response.file = url
            }
            finishAfterTransfer(.success(response), end)
        } catch {
            // Clean up before completing the task, so that the caller finds nothing left behind.
            leg.sink?.discard()
            finishAfterTransfer(
                .failure(self.error(for: .refused(error), of: leg.request, response: response)), end)
        }
    }

    private func carryOut(_ step: RedirectStep, from response: HTTPResponse) {
        switch step {
        case .deliver:
            succeed(with: response)
        case .follow(let next):
            // A body's code runs when it is encoded, and this may be the transport's own thread.
            courier.async { [self] in begin(next, redirects: leg.redirects + 1) }
        case .ask(let ask):
            courier.async { [self] in
                let chosen = ask().map { RedirectStep(chosen: $0, followed: leg.redirects) }
                carryOut(chosen ?? .deliver, from: response)
            }
        case .fail(let code, let reason):
            failAfterTransfer(error(for: TransferFailure(code, reason), response: response))
        }
    }

    /// The response without its body.
    private func responseSoFar(isWhole: Bool) -> HTTPResponse? {
        guard var response = leg.response else { return nil }
        response.metrics = metrics(until: owner.timers.now, isWhole: isWhole)
        return response
    }
}
