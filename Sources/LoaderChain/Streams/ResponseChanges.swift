import LoaderChainPlatformFoundation

/// The versions of a resource, as it changes: a request that is made again and again.
///
/// ```swift
/// for try await response in chain.changes(of: HTTPRequest(url: url)) { print(response.body.count) }
/// ```
///
/// The first response is an element, and after that each response that differs from the last. The requests carry the last
/// `ETag`, or `Last-Modified`, so that a server can answer 304 Not Modified. If it sends no tag, bodies are compared; bodies
/// that are delivered in chunks or in a file are not, and count as new if there is no `Last-Modified`, or another one.
///
/// | What happens | What the sequence does |
/// |---|---|
/// | a new version | returns it |
/// | the same version, or 304 | asks again, after the interval and a random delay |
/// | no connection, a timeout, 408, 409, 421, 423, 425, 429, or a 5xx but 501 and 505 | asks again, after a delay that grows with each failure in a row |
/// | `Retry-After` | waits for as long, up to ``Settings/maximumDelay`` |
/// | any other status | throws an ``HTTPError/Code/invalidResponse`` |
/// | a new version that the request's own ``HTTPRequest/responseCheck`` refuses | throws its error |
/// | any other error of the chain | throws it |
/// | the Swift task that reads is cancelled | throws ``HTTPError/Code/cancelled`` |
///
/// The interval begins with the response. Nothing is requested before an element is awaited.
public struct ResponseChanges: AsyncSequence, Sendable {
    /// A version.
    public typealias Element = HTTPResponse

    /// The settings of polling.
    public struct Settings: Sendable {
        /// The time between a response and the next request; half a minute by default.
        public var interval = Duration.seconds(30)

        /// The share of a delay that may be added by chance, so that clients do not ask all at once; a tenth by default.
        public var jitter = 0.1

        /// Whether to wait until a response is no longer fresh by its `Cache-Control: max-age`, if that is longer; not by default.
        public var followsMaxAge = false

        /// The longest delay that a server or failures can lead to; an hour by default.
        public var maximumDelay = Duration.seconds(3_600)

        /// The number of failures in a row that are tolerated; nil, the default, for any number.
        public var maximumFailures: Int?

        /// The tag of the version that is known already, perhaps from before a relaunch.
        public var entityTag: String?

        /// The network, which requests then wait for; nil, the default, to ask without looking.
        public var network: (any NetworkSource)?

        /// Settings with their defaults.
        public init() {}
    }

    fileprivate let request: HTTPRequest
    fileprivate let chain: HTTPLoader
    fileprivate let settings: Settings
    fileprivate let timers: any Timers
    fileprivate let random: RandomSource

    /// Makes an iterator, which asks at once when its first element is awaited.
    public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let changes: ResponseChanges
        private var state: PollState
        private var due: TimerInstant?
        private var isAtEnd = false

        fileprivate init(changes: ResponseChanges) {
            self.changes = changes
            state = PollState(changes.settings)
        }

        /// The next version, or nil after an error.
        public mutating func next() async throws -> HTTPResponse? {
            guard !isAtEnd else { return nil }
            do {
                while true {
                    if let response = try await poll() { return response }
                }
            } catch {
                isAtEnd = true
                // A wait that was cancelled ends as a load does.
                guard error is CancellationError else { throw error }
                throw HTTPError(.cancelled, request: changes.request)
            }
        }

        /// Asks once, and returns the response if it is a new version.
        private mutating func poll() async throws -> HTTPResponse? {
            let timers = changes.timers
            if let due { try await timers.sleep(for: timers.now.duration(to: due)) }
            if let network = changes.settings.network, !changes.request.isForThisMachine {
                try await network.waitUntilAvailable()
            }
            var request = changes.request
            state.prepare(&request)
            // Statuses that a loader below would turn into errors are answers here.
            request.responseCheck = .nothing
            let response: HTTPResponse
            do throws(HTTPError) {
                response = try await changes.chain.load(request)
            } catch {
                guard Reconnection.isTemporary(error) else { throw error }
                state.takeFailure()
                if state.hasFailed { throw error }
                wait(after: nil)
                return nil
            }
            let verdict = state.take(response)
            if verdict == .unusable || state.hasFailed { throw failure(response) }
            wait(after: response)
            guard verdict == .changed else { return nil }
            let chain = changes.chain
            if let error = changes.request.responseCheck?.verdict(on: response, by: chain.name) { throw error }
            return response
        }

        private mutating func wait(after response: HTTPResponse?) {
            let timers = changes.timers
            let delay = state.delay(after: response, roll: changes.random.unit(), now: timers.date)
            due = timers.now.advanced(by: delay)
        }

        private func failure(_ response: HTTPResponse) -> HTTPError {
            HTTPError(
                .invalidResponse, request: response.request, response: response.head,
                reason: "Polling cannot continue after this status")
        }
    }
}

extension HTTPLoader {
    /// The versions of a resource, as it changes.
    ///
    /// - Parameters:
    ///   - request: the request, usually a GET.
    ///   - settings: the settings of polling.
    ///   - timers: measures the delays.
    ///   - random: the source of the delays; give a seeded source in tests.
    public final func changes(
        of request: HTTPRequest, settings: ResponseChanges.Settings = ResponseChanges.Settings(),
        timers: any Timers = SystemTimers.shared, random: RandomSource = .system
    ) -> ResponseChanges {
        ResponseChanges(request: request, chain: self, settings: settings, timers: timers, random: random)
    }
}

/// The known version of a resource that is polled, and the time to ask again: decisions, without a clock.
struct PollState: Sendable {
    enum Verdict: Hashable, Sendable {
        case changed
        case same
        /// The server asks to come again later.
        case busy
        /// Polling cannot continue after this response.
        case unusable
    }

    private let settings: ResponseChanges.Settings
    private let interval: Duration
    private let pacing: Pacing
    private var entityTag: String?
    private var lastModified: String?
    /// A checksum of the last body, for a server that names no version.
    private var bodyDigest: [UInt8]?
    private var failures = 0

    init(_ settings: ResponseChanges.Settings) {
        self.settings = settings
        interval = max(Pacing.clamped(settings.interval), .milliseconds(1))
        let maximum = max(interval, Pacing.clamped(settings.maximumDelay))
        pacing = Pacing(first: interval, maximum: maximum, maximumAsked: maximum, leastShare: 0.5)
        entityTag = settings.entityTag
    }

    /// Adds what asks for a response only if the resource has changed.
    func prepare(_ request: inout HTTPRequest) {
        if let entityTag {
            request.headers["If-None-Match"] = entityTag
        } else if let lastModified {
            request.headers["If-Modified-Since"] = lastModified
        }
    }

    mutating func take(_ response: HTTPResponse) -> Verdict {
        switch StatusMeaning(response.status) {
        case .unexpected where response.status == .notModified:
            failures = 0
            return .same
        case .accepted:
            failures = 0
            return noteVersion(of: response) ? .changed : .same
        case .unavailable, .overloaded:
            failures += 1
            return .busy
        case .unexpected, .unauthorized, .tooLarge, .unsupportedEncoding, .malformed, .refused: return .unusable
        }
    }

    /// Notes the version of a response, and returns whether it is new.
    private mutating func noteVersion(of response: HTTPResponse) -> Bool {
        let tag = response.headers.values(for: "ETag").first.flatMap { Self.isTag($0) ? $0 : nil }
        let date = response.headers["Last-Modified"].flatMap { Self.isDate($0) ? $0 : nil }
        // A body that is not in memory cannot be compared.
        let isStored = response.chunks == nil && response.file == nil
        let digest = tag == nil && isStored ? SHA256.of(response.body) : nil
        defer { (entityTag, lastModified, bodyDigest) = (tag, date, digest) }
        if let tag { return entityTag.map { Self.opaque($0) != Self.opaque(tag) } ?? true }
        // A date is exact to the second, and bodies may change twice in one.
        guard isStored else { return date == nil || date != lastModified }
        return digest != bodyDigest
    }

    /// Whether this may be sent back: a request with any other bytes would be refused.
    private static func isDate(_ text: String) -> Bool {
        text.utf8.count <= 100 && !text.utf8.contains(where: ASCII.isForbiddenInValue)
    }

    /// Whether this may be sent back: anything else, such as a `*`, could make every later answer useless.
    private static func isTag(_ text: String) -> Bool {
        let tag = opaque(text)
        return tag.utf8.count <= 256 && isStrongTag(tag)
    }

    /// Whether a text is an entity tag without the mark of a weak one.
    static func isStrongTag(_ text: Substring) -> Bool {
        let (bytes, quote) = (text.utf8, UInt8(ascii: "\""))
        return bytes.count >= 2 && bytes.first == quote && bytes.last == quote
            && bytes.dropFirst().dropLast().allSatisfy { $0 > ASCII.space && $0 != quote && $0 != ASCII.delete }
    }

    /// A tag without the mark of a weak one: for this comparison, both are the same (RFC 9110, 8.8.3.2).
    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// Forgets the version, because what came was of no use.
    mutating func forget() { (entityTag, lastModified, bodyDigest) = (nil, nil, nil) }

    mutating func takeFailure() { failures += 1 }

    var hasFailed: Bool { settings.maximumFailures.map { failures > $0 } ?? false }

    /// Returns how long to wait before the next request, after the last response if there was one.
    ///
    /// `roll` is a random number, from 0 up to 1, and `now` the present by the wall clock.
    func delay(after response: HTTPResponse?, roll: Double, now: Date) -> Duration {
        let asked = RetryAfter.delay(of: response, now: now)
        guard failures == 0 else {
            return max(interval, pacing.delay(afterFailures: failures + 1, asked: asked, roll: roll))
        }
        var delay = interval
        if settings.followsMaxAge, let response { delay = max(delay, pacing.granted(Self.freshness(of: response))) }
        delay = max(delay, pacing.granted(asked))
        return delay * (1 + min(max(0, settings.jitter), 1) * roll)
    }

    /// How long a response is fresh, by its `max-age`, less the time that it was in caches.
    private static func freshness(of response: HTTPResponse) -> Duration {
        var lifetime: Int64 = 0
        for directive in response.headers.list(for: "Cache-Control") {
            let parts = directive.split(separator: "=", maxSplits: 1)
            if ASCII.isEqualIgnoringCase(directive, "no-cache") || ASCII.isEqualIgnoringCase(directive, "no-store") {
                return .zero
            }
            if parts.count == 2, ASCII.isEqualIgnoringCase(String(parts[0]), "max-age") {
                lifetime = seconds(parts[1]) ?? 0
            }
        }
        let age = response.headers["Age"].flatMap { seconds(Substring($0)) } ?? 0
        return .seconds(max(0, lifetime - age))
    }

    private static func seconds(_ text: Substring) -> Int64? { ASCII.number(ASCII.trimmed(text.utf8), digits: 1...11) }
}
