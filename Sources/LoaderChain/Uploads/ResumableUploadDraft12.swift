import LoaderChainPlatformFoundation

/// Uploads a body in as many parts as it takes, by a draft that servers may or may not support.
///
/// ```swift
/// request.body = FileBody(URL(filePath: "/var/lib/films/film.mp4"))
/// let upload = ResumableUploadDraft12(request, chain: chain)
/// print(try await upload.send().status)
/// ```
///
/// The upload follows draft-ietf-httpbis-resumable-upload-12, whose interop version is 8. A later draft, or the standard, may
/// differ, and will have a type of its own.
///
/// The upload first asks the server for an upload URL, with the request's method and headers and without a body, because no
/// terminal of this package passes on interim responses (104). It then appends the body by `PATCH`, in parts that are no larger
/// than the server's `max-append-size`. After a lost connection, a 5xx but 501 and 505, or if the server asks to come again
/// later (408, 423, 425, 429), it waits, at least as long as `Retry-After` says, asks how much has arrived, and continues there. The result is
/// the server's response to the whole.
///
/// A server that returns no such URL does not support the draft, and the upload fails with ``HTTPError/Code/invalidResponse``;
/// the server has then seen a request without a body. An upload URL on another server gets none of the request's secret
/// headers, a URL that leads from https to http is refused, and a user and a password in it are left out.
///
/// To continue after a relaunch, keep the URL that ``Settings/onLocation`` is called with, and set it as ``Settings/location``
/// with the same body. If the server has forgotten it, the upload starts over. Secret headers are sent there if it is on the
/// server of the request, which must therefore name its host.
public struct ResumableUploadDraft12: Sendable {
    /// How an upload goes on after a failure.
    public struct Settings: Sendable {
        /// The number of failures in a row after which the upload fails; five by default.
        ///
        /// New bytes on the server restart the count.
        public var maximumFailures = 5

        /// The bound of the random delay after the first failure, which doubles with each one in a row; a second by default.
        public var firstDelay = Duration.seconds(1)

        /// The maximum of that bound; half a minute by default.
        public var maximumDelay = Duration.seconds(30)

        /// The longest delay that a server can ask for by `Retry-After`; a minute by default.
        public var maximumRetryAfter = Duration.seconds(60)

        /// The URL at which an earlier process has begun this upload; nil, the default, to begin it.
        public var location: URL?

        /// Hears where the server wants the upload, to go on there after a relaunch.
        ///
        /// A person or program that knows the address may be able to write to it, so treat it as a secret.
        public var onLocation: (@Sendable (URL) -> Void)?

        /// Settings with their defaults.
        public init() {}
    }

    private static let interopVersion = "8"

    private let request: HTTPRequest
    private let chain: HTTPLoader
    private let settings: Settings
    private let timers: any Timers
    private let random: RandomSource

    /// Makes an upload, which nothing is sent of yet.
    ///
    /// - Parameters:
    ///   - request: the request to upload with; its body must have a length, and give the same bytes again.
    ///   - chain: loads the requests.
    ///   - settings: the behavior after a failure.
    ///   - timers: measures the delays.
    ///   - random: chooses delays; give a seeded source in tests.
    public init(
        _ request: HTTPRequest, chain: HTTPLoader, settings: Settings = Settings(),
        timers: any Timers = SystemTimers.shared, random: RandomSource = .system
    ) {
        self.request = request
        self.chain = chain
        self.settings = settings
        self.timers = timers
        self.random = random
    }

    /// Sends the body, and returns the server's response to the whole.
    ///
    /// If the server had the whole, but its response was lost, the result is its response to the question for that. Cancelling
    /// the Swift task that waits here ends the upload with ``HTTPError/Code/cancelled``; a later one can continue it.
    public func send() async throws(HTTPError) -> HTTPResponse {
        let content = try encoded()
        guard request.body.canBeSentAgain, let length = content.length else {
            throw error(
                .invalidRequest, reason: "A body that is uploaded in parts needs a length, and the same bytes each time"
            )
        }
        guard settings.location == nil || !request.storage.address.lacksHost || !hasSecrets else {
            throw error(
                .invalidRequest,
                reason:
                    "The request has secret headers but no host, so it is unknown whether the server of the upload URL"
                    + " may get them; set its host")
        }
        var state = DraftUploadState(settings, length: length)
        var sent = request
        while true {
            let question = state.question
            do throws(HTTPError) {
                let response = try await chain.load(part(question, content, from: sent))
                if question == .create { sent = response.request }
                let target = question == .create ? try target(of: response) : nil
                switch state.take(response, to: question, target: target) {
                case .goesOn: break
                case .ends: return response
                case .isWrong(let reason): throw error(.invalidResponse, response, reason: reason)
                case .failed:
                    guard let delay = delay(after: response, &state) else { return response }
                    try await pause(for: delay)
                }
                if question == .create, let location = state.location { settings.onLocation?(location) }
            } catch {
                guard HTTPResult.failure(error).isTransientFailure else { throw error }
                state.takeLoss()
                guard let delay = delay(after: error.response, &state) else { throw error }
                try await pause(for: delay)
            }
        }
    }

    /// Waits; a cancel ends this as it ends a load.
    private func pause(for delay: Duration) async throws(HTTPError) {
        do { try await timers.sleep(for: delay) } catch { throw HTTPError(.cancelled, request: request) }
    }

    private func delay(after response: HTTPResponse?, _ state: inout DraftUploadState) -> Duration? {
        state.takeFailure(asked: RetryAfter.delay(of: response, now: timers.date), roll: random.unit())
    }

    /// Tells the server that the upload to a place will not go on, so that it can forget what it has.
    ///
    /// - Parameter location: the URL that ``Settings/onLocation`` was called with.
    public func discard(_ location: URL) async throws(HTTPError) {
        _ = try await chain.load(bare(.delete, at: location, from: request))
    }

    // MARK: Requests

    private var hasSecrets: Bool { request.headers.contains { HTTPHeaders.isSecret($0.name) } }

    private func encoded() throws(HTTPError) -> HTTPBodyContent {
        do { return try request.body.encode() } catch {
            throw self.error(.invalidRequest, underlying: error, reason: "The body cannot be read")
        }
    }

    private func part(
        _ question: DraftUploadState.Question, _ content: HTTPBodyContent, from sent: HTTPRequest
    ) -> HTTPRequest {
        var part: HTTPRequest
        switch question {
        case .create:
            part = request
            part.headers.merge(filling: request.body.additionalHeaders)
            part.body = EmptyBody()
            part.onProgress = nil
            part.headers["Upload-Complete"] = "?0"
            part.headers["Upload-Length"] = "\(content.length ?? 0)"
        case .ask(let location):
            part = bare(.head, at: location, from: sent)
        case .append(let location, let first, let count, let isLast):
            part = bare(.patch, at: location, from: sent)
            part.headers["Content-Type"] = "application/partial-upload"
            part.headers["Upload-Offset"] = "\(first)"
            part.headers["Upload-Complete"] = isLast ? "?1" : "?0"
            part.body = PartOfBody(content: content, bytes: first..<(first + count))
            if let onProgress = request.onProgress {
                let whole = content.length
                part.onProgress = { progress in
                    var progress = progress
                    progress.bytesSent += first
                    progress.bytesToSend = whole
                    onProgress(progress)
                }
            }
        }
        part.headers["Upload-Draft-Interop-Version"] = Self.interopVersion
        // Statuses that a loader below would make errors of are answers here.
        part.responseCheck = .nothing
        return part
    }

    /// A request to the place of the upload, with the credentials of the request if it is on the same server.
    private func bare(_ method: HTTPMethod, at location: URL, from sent: HTTPRequest) -> HTTPRequest {
        var bare = request
        bare.method = method
        bare.body = EmptyBody()
        bare.onProgress = nil
        bare.url = location
        for name in Set(bare.headers.map(\.name)) where name.lowercased().hasPrefix("content-") {
            bare.headers.remove(name)
        }
        bare.headers["Upload-Draft-Interop-Version"] = Self.interopVersion
        bare.keepSecrets(from: request, sent: sent)
        return bare
    }

    /// The upload URL in the response to the first request.
    private func target(of response: HTTPResponse) throws(HTTPError) -> URL? {
        guard response.status.isSuccess, let location = response.headers.values(for: "Location").first,
            let base = response.request.url,
            let target = URL(string: location, relativeTo: base)?.absoluteURL
        else { return nil }
        var next = HTTPRequest(url: target)
        next.setUserInfo(nil)
        guard ["http", "https"].contains(next.scheme.lowercased()), next.host?.isEmpty == false else { return nil }
        guard !RedirectRule.isDowngrade(from: response.request, to: next) else {
            throw error(
                .insecureConnection, response, reason: "The upload URL is http instead of https")
        }
        return next.url
    }

    private func error(
        _ code: HTTPError.Code, _ response: HTTPResponse? = nil, underlying: (any Error)? = nil, reason: String
    ) -> HTTPError {
        HTTPError(
            code, request: response?.request ?? request, response: response, underlyingError: underlying, reason: reason
        )
    }
}

/// Some bytes of an encoded body, which must be the same each time.
private struct PartOfBody: HTTPBody {
    let content: HTTPBodyContent
    let bytes: Range<Int64>

    var isEmpty: Bool { bytes.isEmpty }

    func encode() throws -> HTTPBodyContent {
        var segments: [HTTPBodyContent.Segment] = []
        var start: Int64 = 0
        for segment in content.segments {
            let length = segment.length ?? 0
            let part = bytes.clamped(to: start..<(start + length))
            // The count of a range is an Int, which may be too small.
            let size = part.upperBound - part.lowerBound
            if size > 0 { segments.append(try Self.part(of: segment, part.lowerBound - start, size)) }
            start += length
        }
        return HTTPBodyContent(segments: segments)
    }

    private static func part(
        of segment: HTTPBodyContent.Segment, _ first: Int64, _ count: Int64
    ) throws(HTTPBodyError) -> HTTPBodyContent.Segment {
        switch segment {
        case .data(let data): return .data(data.dropFirst(Int(first)).prefix(Int(count)))
        case .file(let slice):
            guard try FileSlice(slice.url, bytes: slice.bytes) == slice else {
                throw HTTPBodyError("\(HTTPBodyError.name(slice.url)) has changed during its upload; begin a new one.")
            }
            let start = slice.bytes.lowerBound + first
            return .file(try FileSlice(slice.url, bytes: start..<(start + count)))
        case .stream: throw HTTPBodyError("A stream cannot be uploaded in parts; give data or a file.")
        }
    }
}
