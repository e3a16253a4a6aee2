import LoaderChain
import LoaderChainPlatformFoundation

// MARK: Submitting

extension ReportOutbox {
    /// Takes in bytes, to be sent as the body of a request.
    ///
    /// When this returns, the report is in the box. It works on the disk, on the thread that calls it.
    ///
    /// - Parameters:
    ///   - data: the report.
    ///   - identifier: what it is to be known by; nil for a new UUID. While a report of that identifier is in the box, this one
    ///     joins it, and is not taken in again.
    ///   - request: how it is sent. It has no body of its own, and no secrets: the chain adds them at every attempt.
    ///   - priority: how much it matters beside others; one that joins another has that one's.
    ///   - kind: what it is, for servers that limit reports by kind.
    /// - Returns: what the report is known by.
    @discardableResult
    public func submit(
        _ data: Data, identifier: String? = nil, request: HTTPRequest, priority: ReportPriority = .normal,
        kind: ReportKind = .standard
    ) throws(OutboxError) -> ReportID {
        try submit(body: DataBody(data), identifier: identifier, request: request, priority, kind)
    }

    /// Takes in the bytes of a file, however large, to be sent as the body of a request.
    ///
    /// The box copies the file piece by piece, and does not need it any more. If the settings have a
    /// ``OutboxSettings/locations`` provider that knows a place for the identifier, the report is the file at that place, and
    /// nothing is copied.
    ///
    /// - Parameters:
    ///   - file: the report.
    ///   - identifier: what it is to be known by; nil for a new UUID. While a report of that identifier is in the box, this one
    ///     joins it, and is not taken in again.
    ///   - request: how it is sent. It has no body of its own, and no secrets: the chain adds them at every attempt.
    ///   - priority: how much it matters beside others; one that joins another has that one's.
    ///   - kind: what it is, for servers that limit reports by kind.
    /// - Returns: what the report is known by.
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

    /// Takes in a request with its body, of any kind.
    ///
    /// ```swift
    /// try outbox.submit(HTTPRequest(method: .post, url: url, body: JSONBody(newUser)))
    /// ```
    ///
    /// - Parameters:
    ///   - request: what is to be sent. It carries no secrets: the chain adds them at every attempt. Its options are not kept.
    ///   - identifier: what it is to be known by; nil for a new UUID. While a report of that identifier is in the box, this one
    ///     joins it, and is not taken in again.
    ///   - priority: how much it matters beside others; one that joins another has that one's.
    ///   - kind: what it is, for servers that limit reports by kind.
    /// - Returns: what the report is known by.
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
                throw OutboxError(.identifier, "An identifier has 1 to \(ReportID.longest) bytes; use a shorter one.")
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
                .request, "The request has a body beside the report; leave it out, or submit the request alone.")
        }
    }
}

extension OutboxSettings {
    /// What describes the bytes of a body, so that they must stay as they are.
    private static let namesOfBytes = ["Content-Encoding", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest"]

    /// A body, compressed if it is to be and nothing speaks against it.
    fileprivate func compressed(_ body: any HTTPBody, of request: HTTPRequest) -> any HTTPBody {
        guard let compression, !body.isEmpty else { return body }
        let headers = body.additionalHeaders
        guard !Self.namesOfBytes.contains(where: { request.headers.contains($0) || headers.contains($0) }) else {
            return body
        }
        return compression(body)
    }
}
