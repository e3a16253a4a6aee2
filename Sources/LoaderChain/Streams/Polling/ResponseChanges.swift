import LoaderChainPlatformFoundation

/// The versions of a resource, as it changes: a request that is made again and again.
///
/// ```swift
/// for try await response in chain.changes(of: HTTPRequest(url: url)) { print(response.body.count) }
/// ```
///
/// The first response is an element, and after that each one that differs from the last. The requests carry the last `ETag`, or
/// `Last-Modified`, so that a server can answer 304 Not Modified. Where it names no tag, bodies are compared; those that
/// are delivered in chunks or in a file are not, and count as new if there is no `Last-Modified`, or another one.
///
/// | What happens | What the sequence does |
/// |---|---|
/// | a new version | returns it |
/// | the same version, or 304 | asks again, after the interval and a random delay |
/// | no connection, a timeout, 429, 408 or a 5xx | asks again, after a delay that grows with each failure in a row |
/// | `Retry-After` | waits for as long, up to ``Settings/maximumDelay`` |
/// | any other status | throws an ``HTTPError/Code/invalidResponse`` |
/// | any other error of the chain | throws it |
///
/// The interval begins with the response. Nothing is requested before an element is awaited.
public struct ResponseChanges: AsyncSequence, Sendable {
    /// A version.
    public typealias Element = HTTPResponse

    /// How a resource is polled.
    public struct Settings: Sendable {
        /// How long to wait between a response and the next request; half a minute by default.
        public var interval = Duration.seconds(30)

        /// The share of a delay that may be added by chance, so that clients do not ask all at once; a tenth by default.
        public var jitter = 0.1

        /// Whether to wait until a response is no longer fresh by its `Cache-Control: max-age`, if that is longer; not by default.
        public var followsMaxAge = false

        /// The longest delay that a server or failures can lead to; an hour by default.
        public var maximumDelay = Duration.seconds(3_600)

        /// How many failures in a row are borne; nil, the default, for any number.
        public var maximumFailures: Int?

        /// The tag of the version that is known already, perhaps from before a relaunch.
        public var entityTag: String?

        /// Tells whether there is a network, for which requests then wait; nil, the default, to ask without looking.
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
        /// When the next request is due.
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
                throw error
            }
        }

        /// Asks once, and returns the response if it is a new version.
        private mutating func poll() async throws -> HTTPResponse? {
            let timers = changes.timers
            if let due { try await timers.sleep(for: timers.now.duration(to: due)) }
            if let network = changes.settings.network, !changes.request.isForThisMachine {
                try await network.waitUntilAvailable()
            }
            try Task.checkCancellation()
            var request = changes.request
            state.prepare(&request)
            // Statuses that a loader below would make errors of are answers here.
            if request.responseCheck == nil { request.responseCheck = .nothing }
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
            return verdict == .changed ? response : nil
        }

        private mutating func wait(after response: HTTPResponse?) {
            let timers = changes.timers
            let delay = state.delay(after: response, roll: changes.random.unit(), now: timers.date)
            due = timers.now.advanced(by: delay)
        }

        private func failure(_ response: HTTPResponse) -> HTTPError {
            HTTPError(
                .invalidResponse, request: response.request, response: response.head,
                reason: "Polling cannot go on with this status")
        }
    }
}

extension HTTPLoader {
    /// The versions of a resource, as it changes.
    ///
    /// - Parameters:
    ///   - request: the request, usually a GET.
    ///   - settings: how often to ask.
    ///   - timers: measures the delays.
    ///   - random: chooses delays; give a seeded source in tests.
    public final func changes(
        of request: HTTPRequest, settings: ResponseChanges.Settings = ResponseChanges.Settings(),
        timers: any Timers = SystemTimers.shared, random: RandomSource = .system
    ) -> ResponseChanges {
        ResponseChanges(request: request, chain: self, settings: settings, timers: timers, random: random)
    }
}
