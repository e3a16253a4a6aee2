import Dispatch

/// Lets identical requests that are in flight at the same time share one execution.
///
/// Ten views that ask for the same image at once make one request, and each gets its response.
///
/// ```swift
/// let chain = ApplyEnvironment(environment: .production) --> Deduplicate() --> throttle --> retry --> terminal
/// ```
///
/// Put it below loaders that change requests, such as ``ApplyEnvironment``: requests are compared by their contents.
/// Put it above loaders whose work should be done once for all, such as ``Throttle`` and ``Retry``. A loader that adds
/// the same user's credentials to every request may be below it.
///
/// Of a request's options, those are compared that ``Key/standard(for:ignoring:)`` names. If a loader further down uses another
/// one, such as `cachePolicy` or an option of yours, make it a part of the key. A request whose options allow no
/// two attempts at once, such as a body that goes to a file or is delivered in chunks, is loaded on its own.
///
/// By default, two `GET` or two `HEAD` requests with the same address and the same headers are the same; see
/// ``Key/standard(for:ignoring:)``. A request's ``HTTPRequest/deduplication`` takes precedence.
///
/// The shared execution is a task of its own, without a deadline. A follower that is cancelled, or whose
/// ``HTTPRequest/deadline`` comes, completes at once and does not affect the others. If all are cancelled, the execution is
/// cancelled too, and a new request starts another execution without waiting for its end. All followers get the same result,
/// whose ``HTTPResponse/request`` is the request that was sent: the first follower's. A reset ends the followers with
/// ``HTTPError/Code/resetInProgress``, and waits until the executions have stopped.
public final class Deduplicate: HTTPLoader, @unchecked Sendable {
    private let key: @Sendable (HTTPRequest) -> Key?
    private let followers = Followers()
    private let waits = ResetWaits()

    /// Makes a loader that compares requests by `key`, which returns nil for requests that are never shared; by default
    /// ``Key/standard(for:ignoring:)``.
    public init(key: @escaping @Sendable (HTTPRequest) -> Key? = { Key.standard(for: $0) }) {
        self.key = key
    }

    public override func load(task: HTTPTask) {
        var request = task.request
        guard let key = key(of: request) else { return super.load(task: task) }
        // The execution ends with the last of its followers.
        if request.deadline != nil { request.deadline = nil }
        guard let (flight, execution) = followers.join(task, as: key, request) else { return }
        let handle = execution.makeChainHandle()
        // The handler keeps this loader, and those below, until the end. It is registered with the handle that goes
        // down the chain, so that a reset learns of the end after it is noted here.
        handle.addCompletionHandler { self.followers.complete(flight, with: $0) }
        super.load(task: handle)
    }

    /// Ends all followers, and finishes when every execution has stopped.
    public override func reset(with group: DispatchGroup) {
        let (left, executions) = followers.leaveAll()
        for execution in executions {
            waits.add(group, for: execution)
            execution.cancel()
        }
        for follower in left { fail(follower, .resetInProgress) }
        super.reset(with: group)
    }

    /// Forgets the reset, although executions that it has stopped still run.
    public override func resetTimedOut(with group: DispatchGroup) {
        waits.giveUp(group)
        super.resetTimedOut(with: group)
    }

    public override var details: String {
        let (executions, tasks) = followers.counts
        return "executions \(executions), for \(tasks) tasks"
    }

    /// The number of executions under way, and of tasks that share them.
    public override var readings: [LoaderReading] {
        let (executions, tasks) = followers.counts
        return [
            .level("deduplicate.executions", executions, "How many shared requests are under way"),
            .level("deduplicate.tasks", tasks, "How many requests share them"),
        ]
    }

    private func key(of request: HTTPRequest) -> Key? {
        // Several requests cannot share the file, the chunks or the progress of one execution.
        guard request.storage.options.allowTwoAttempts else { return nil }
        return switch request.deduplication {
        case .never: nil
        case .shared(let key): key
        case .automatic: key(request)
        }
    }
}

extension Deduplicate {
    /// The key by which requests are compared: equal keys share an execution.
    public struct Key: Hashable, Sendable {
        private enum Content: Hashable {
            case text(String)
            case request(HTTPMethod, address: String, HTTPHeaders, [ResponseCheck?], Terms)
        }

        /// The options that can change a result.
        private struct Terms: Hashable {
            let credentials: BasicCredentials?
            let isForChosenServer: Bool
            let mostBytes: Int?
            let networks: UInt8
            /// How many redirects are followed; nil for none.
            let redirects: Int?
        }
        private let content: Content

        /// Makes a key of your own, which is never equal to a ``standard(for:ignoring:)`` key.
        public init(_ text: String) { content = .text(text) }

        /// The standard key; nil for a request that is never shared, because it has a body, an unsafe method, or effects that
        /// ``HTTPRequest/isRepeatable`` tells of.
        ///
        /// Two `GET` or two `HEAD` requests have the same key if their URL, headers, ``HTTPRequest/basicCredentials``,
        /// ``HTTPRequest/responseCheck``, type to decode, limit in memory, ``HTTPRequest/networkAccess`` and
        /// ``HTTPRequest/redirects`` are the same. A request that asks a closure about redirects has none.
        ///
        /// - Parameters:
        ///   - request: the request.
        ///   - ignored: the names of headers to ignore, in any case.
        public static func standard(
            for request: HTTPRequest, ignoring ignored: [String] = Deduplicate.ignoredHeaders
        ) -> Key? {
            guard request.method == .get || request.method == .head, request.body.isEmpty, request.isRepeatable,
                let address = request.storage.address.text(showing: .shown)
            else { return nil }
            let headers = request.headers.filter { field in !ignored.contains { field.isNamed($0) } }
            // Requests with different checks must not share a result.
            let checks = [request.responseCheck, request.decodingCheck]
            let redirects: Int?
            switch request.redirects {
            case .follow(let limit): redirects = limit
            case .refuse: redirects = nil
            case .ask: return nil
            }
            var mostBytes: Int?
            if case .inMemory(let limit) = request.delivery { mostBytes = limit }
            let terms = Terms(
                // Requests of different users must not share one: a loader below turns these credentials into a header.
                credentials: request.basicCredentials, isForChosenServer: request.isForChosenServer,
                mostBytes: mostBytes,
                networks: request.networkAccess.rawValue, redirects: redirects)
            return Key(content: .request(request.method, address: address, HTTPHeaders(headers), checks, terms))
        }

        private init(content: Content) { self.content = content }
    }

    /// The headers that the standard key ignores: those that number or trace requests.
    public static let ignoredHeaders = [
        "traceparent", "tracestate", "b3", "X-Request-ID", "X-Correlation-ID", "X-Trace-ID",
    ]
}

/// Whether a request shares its execution with others; see ``Deduplicate``.
public enum DeduplicationOption: HTTPRequestOption, Hashable {
    /// The loader decides.
    case automatic
    /// The request is loaded on its own.
    case never
    /// The request shares its execution with all requests that have the same key.
    case shared(as: Deduplicate.Key)

    /// The loader decides.
    public static var defaultOptionValue: DeduplicationOption { .automatic }
}

extension HTTPRequest {
    /// Whether the request shares its execution with others that are in flight.
    ///
    /// Set it to ``DeduplicationOption/never`` to read what was just written: the response to a request that is already
    /// in flight may be older.
    public var deduplication: DeduplicationOption {
        get { self[option: DeduplicationOption.self] }
        set { self[option: DeduplicationOption.self] = newValue }
    }
}
