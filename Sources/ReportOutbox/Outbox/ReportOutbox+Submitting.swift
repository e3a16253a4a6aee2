import LoaderChain
import LoaderChainPlatformFoundation

// MARK: Submitting

extension ReportOutbox {
    /// Submits bytes, to be sent as the body of a request.
    ///
    /// When this method returns, the report is stored. It writes to disk on the calling thread.
    ///
    /// - Parameters:
    ///   - data: the bytes of the report.
    ///   - identifier: the identifier of the report; nil for a new UUID. While a report with this identifier is in the outbox,
    ///     further submissions are ignored.
    ///   - request: the request, without a body and without secrets: the chain adds them at every attempt.
    ///   - priority: the priority of the report.
    ///   - kind: the kind of the report, for servers that limit reports by kind.
    /// - Returns: the identifier of the report.
    @discardableResult
    public func submit(
        _ data: Data, identifier: String? = nil, request: HTTPRequest, priority: ReportPriority = .normal,
        kind: ReportKind = .standard
    ) throws(OutboxError) -> ReportID {
        try submit(body: DataBody(data), identifier: identifier, request: request, priority, kind)
    }

    /// Submits a file of any size, to be sent as the body of a request.
    ///
    /// The outbox copies the file piece by piece; the original is not needed afterwards. If the settings have a
    /// ``OutboxSettings/locations`` provider that returns a place for the identifier, the report is the file at that place, and
    /// nothing is copied.
    ///
    /// - Parameters:
    ///   - file: the file of the report.
    ///   - identifier: the identifier of the report; nil for a new UUID. While a report with this identifier is in the outbox,
    ///     further submissions are ignored.
    ///   - request: the request, without a body and without secrets: the chain adds them at every attempt.
    ///   - priority: the priority of the report.
    ///   - kind: the kind of the report, for servers that limit reports by kind.
    /// - Returns: the identifier of the report.
    @discardableResult
    public func submit(
        fileAt file: URL, identifier: String? = nil, request: HTTPRequest, priority: ReportPriority = .normal,
        kind: ReportKind = .standard
    ) throws(OutboxError) -> ReportID {
        guard let identifier, let id = ReportID(identifier), let kept = engine.settings.locations?.location(of: id)
        else {
            return try submit(body: FileBody(file), identifier: identifier, request: request, priority, kind)
        }
        return try engine.counting { () throws(OutboxError) in
            let slice: FileSlice
            do throws(HTTPBodyError) { slice = try FileSlice(kept) } catch {
                throw OutboxError(.unreadable, "\(error)")
            }
            try Self.checkHasNoBody(request)
            return try engine.submit(
                id, request, .kept(slice.length), adding: ["Content-Type": "application/octet-stream"], priority, kind)
        }
    }

    /// Submits a request with its body, which may be of any kind.
    ///
    /// ```swift
    /// try outbox.submit(HTTPRequest(method: .post, url: url, body: JSONBody(newUser)))
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request, without secrets: the chain adds them at every attempt. Its options are not stored.
    ///   - identifier: the identifier of the report; nil for a new UUID. While a report with this identifier is in the outbox,
    ///     further submissions are ignored.
    ///   - priority: the priority of the report.
    ///   - kind: the kind of the report, for servers that limit reports by kind.
    /// - Returns: the identifier of the report.
    @discardableResult
    public func submit(
        _ request: HTTPRequest, identifier: String? = nil, priority: ReportPriority = .normal,
        kind: ReportKind = .standard
    ) throws(OutboxError) -> ReportID {
        var bare = request
        bare.body = EmptyBody()
        return try submit(body: request.body, identifier: identifier, request: bare, priority, kind)
    }

    private func submit(
        body: any HTTPBody, identifier: String?, request: HTTPRequest, _ priority: ReportPriority, _ kind: ReportKind
    ) throws(OutboxError) -> ReportID {
        try engine.counting { () throws(OutboxError) in
            guard let id = ReportID(identifier ?? UUID().uuidString) else {
                throw OutboxError(
                    .identifier, "The identifier must have 1 to \(ReportID.maximumLength) bytes; use a shorter one.")
            }
            try Self.checkHasNoBody(request)
            let body = engine.settings.compressed(body, of: request)
            return try engine.submit(
                id, request, .content(try Self.content(of: body)), adding: body.additionalHeaders, priority, kind)
        }
    }

    private static func content(of body: any HTTPBody) throws(OutboxError) -> HTTPBodyContent {
        do {
            return try body.encode()
        } catch {
            let reason = (error as? HTTPBodyError)?.reason ?? "\(type(of: error))"
            throw OutboxError(.unreadable, "The report's bytes cannot be read: \(reason)")
        }
    }

    private static func checkHasNoBody(_ request: HTTPRequest) throws(OutboxError) {
        guard request.body.isEmpty else {
            throw OutboxError(
                .request, "The request has a body in addition to the report; remove it, or submit the request alone.")
        }
    }
}

extension OutboxSettings {
    /// Returns the compressed body, or the body unchanged if it must not be compressed.
    fileprivate func compressed(_ body: any HTTPBody, of request: HTTPRequest) -> any HTTPBody {
        guard let compression, !body.isEmpty else { return body }
        let headers = body.additionalHeaders
        guard !HTTPHeaders.namesAboutBytes.contains(where: { request.headers.contains($0) || headers.contains($0) })
        else {
            return body
        }
        return compression(body)
    }
}
