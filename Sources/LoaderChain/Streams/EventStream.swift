import LoaderChainPlatformFoundation

/// A server's endless events: a request that is made again whenever its response ends.
///
/// ```swift
/// let stream = EventStream(HTTPRequest(url: url), chain: chain)
/// for try await event in stream { print(event.type, event.data) }
/// ```
///
/// The stream follows the HTML standard. The request asks for `text/event-stream`, and after the first event with an identifier
/// it carries a `Last-Event-ID`, so that the server continues with the next event.
///
/// | What happens | What the stream does |
/// |---|---|
/// | the response ends, or the connection is lost | connects again, after the time that the server asked for and a random delay |
/// | nothing arrives for ``Settings/idleTime`` | the same |
/// | no connection, or a timeout | the same; the delay grows with each failure in a row |
/// | ``Settings/network`` reports no network | waits until there is one, and then connects at once |
/// | 204 No Content | ends |
/// | any other status than 200, or another content type | throws ``HTTPError/Code/invalidResponse`` |
/// | any other error of the chain | throws it |
/// | ``end()`` | ends |
/// | the Swift task that reads is cancelled | throws a `CancellationError` |
///
/// A status such as 503 ends the stream, as the standard says. Put a ``Retry`` into the chain if such a response should be repeated:
/// its strategy then decides how often. A ``Throttle`` above the terminal counts the request until its head has arrived only.
///
/// Read the events with one iterator. Nothing is requested before an event is awaited. What a slow reader has not read waits where the
/// terminal keeps it; see ``ResponseDelivery/chunks``. When the last copy of the iterator is released, the transfer ends.
public final class EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    /// The settings of a stream's connections.
    public struct Settings: Sendable {
        /// How long to wait before connecting again, until the server says how long; three seconds by default.
        public var reconnectionTime = Duration.seconds(3)

        /// The longest time that a server may ask for, and the bound of the random delay; a minute by default.
        public var maximumDelay = Duration.seconds(60)

        /// The longest time for which the server may be silent, also before its response; a minute and a half by default, and
        /// nil for unlimited.
        ///
        /// Servers are advised to send a comment every fifteen seconds, so that a dead connection does not look like a quiet
        /// one. This is the `timeout` of the request too, unless that has one of its own.
        public var idleTime: Duration? = .seconds(90)

        /// The most bytes of a line, and of an event's data; sixteen megabytes by default.
        public var maximumEventBytes = 16 << 20

        /// The identifier of the last event that was seen earlier, perhaps before a relaunch; empty for none.
        public var lastEventID = ""

        /// The network, without which the stream does not try to connect; nil, the default, to try all the same.
        ///
        /// Give ``SystemNetwork/shared`` on a device that goes offline. A stream from this machine itself does not ask.
        public var network: (any NetworkSource)?

        /// Called with each change of ``EventStream/state``, in order and under no lock.
        public var onChange: (@Sendable (State) -> Void)?

        /// Settings with their defaults.
        public init() {}
    }

    /// The state of a stream.
    public struct State: Hashable, Sendable, CustomStringConvertible {
        /// The name of the state.
        public let description: String

        /// The request has been made, or no event has been awaited yet.
        public static let connecting = State(description: "connecting")
        /// The server sends events.
        public static let open = State(description: "open")
        /// The stream waits before it connects again.
        public static let waiting = State(description: "waiting")
        /// The stream waits because there is no network.
        public static let offline = State(description: "offline")
        /// The stream has ended.
        public static let ended = State(description: "ended")
    }

    let chain: HTTPLoader
    let timers: any Timers
    let random: RandomSource
    let settings: Settings
    private let request: HTTPRequest
    private let shared: Locked<Shared>

    private struct Shared {
        var state = State.connecting
        var lastEventID: String
        /// Stops the action that the reader waits for.
        var stop: (@Sendable () -> Void)?
        /// The changes that the observer has not received.
        var untold: [State] = []
        /// Whether a thread calls the observer.
        var isTelling = false

        /// Changes the state, unless the stream has ended.
        mutating func change(to state: State) {
            guard self.state != .ended, self.state != state else { return }
            self.state = state
            untold.append(state)
        }

        mutating func nextChange() -> State? {
            isTelling = !untold.isEmpty
            return isTelling ? untold.removeFirst() : nil
        }
    }

    /// Makes a stream, which connects when its first event is awaited.
    ///
    /// - Parameters:
    ///   - request: the request; the stream sets its `delivery`, and its `Accept`, `Cache-Control` and `timeout` unless it has
    ///     them.
    ///   - chain: loads the request.
    ///   - settings: the settings of its connections.
    ///   - timers: measures delays and silence.
    ///   - random: the source of the delays; give a seeded source in tests.
    public init(
        _ request: HTTPRequest, chain: HTTPLoader, settings: Settings = Settings(),
        timers: any Timers = SystemTimers.shared, random: RandomSource = .system
    ) {
        self.request = Self.prepared(request, idleTime: settings.idleTime)
        self.chain = chain
        self.settings = settings
        self.timers = timers
        self.random = random
        shared = Locked(Shared(lastEventID: settings.lastEventID))
    }

    private static func prepared(_ request: HTTPRequest, idleTime: Duration?) -> HTTPRequest {
        var request = request
        request.headers.merge(filling: [
            "Accept": "text/event-stream", "Cache-Control": "no-store",
            // A proxy that compresses would hold back events until its buffer is full.
            "Accept-Encoding": "identity",
        ])
        request.delivery = .chunks
        // The terminal's own, usually a minute, would end a stream that is only quiet.
        request.timeout = request.timeout ?? idleTime ?? .nanoseconds(Int64.max)
        return request
    }

    /// The current state.
    public var state: State { shared.withLock { $0.state } }

    /// The identifier of the last event; empty if no event had one.
    ///
    /// Keep it to go on from there after a relaunch.
    public var lastEventID: String { shared.withLock { $0.lastEventID } }

    /// Ends the stream: the transfer is cancelled, and the loop that reads it ends.
    ///
    /// Any thread may call it at any time.
    public func end() {
        let stop = shared.withLock { shared in
            shared.change(to: .ended)
            return replace(&shared.stop, with: nil)
        }
        stop?()
        tellChanges()
    }

    /// Makes an iterator, which connects when its first event is awaited.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
}

// MARK: - For the iterator

extension EventStream {
    /// The request for the events after the last one.
    func nextRequest() -> HTTPRequest {
        var request = request
        let id = lastEventID
        // An identifier may be any text, and a header may not: a request that cannot be sent would end the stream.
        let canBeSent = !id.isEmpty && !id.utf8.contains(where: ASCII.isForbiddenInValue)
        if canBeSent { request.headers["Last-Event-ID"] = id }
        return request
    }

    /// The network to wait for; nil if there is one, or none is needed.
    var missingNetwork: (any NetworkSource)? {
        guard let network = settings.network, !network.isAvailable, !request.isForThisMachine else { return nil }
        return network
    }

    func note(lastID: String) throws(Interruption) {
        let hasEnded = shared.withLock { shared in
            // The reader does not get the event if it has ended the stream meanwhile.
            guard shared.state != .ended else { return true }
            shared.lastEventID = lastID
            return false
        }
        if hasEnded { throw .ended }
    }

    func change(to state: State) {
        shared.withLock { $0.change(to: state) }
        tellChanges()
    }

    /// Calls the observer with all changes in their order, unless another thread does so.
    private func tellChanges() {
        guard !shared.withLock({ replace(&$0.isTelling, with: true) }) else { return }
        while let state = shared.withLock({ $0.nextChange() }) { settings.onChange?(state) }
    }

    /// The reason why an action of the reader was stopped.
    enum Interruption: Error {
        case ended
        /// Nothing came for too long.
        case silence
    }

    /// Performs an action of the reader, which ``end()``, a time limit and the end of the reader's Swift task can stop.
    ///
    /// - Throws: an ``Interruption``, a `CancellationError`, or the error of the action.
    func perform<Value: Sendable>(
        within limit: Duration? = nil, _ action: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard state != .ended else { throw Interruption.ended }
        let interruption = Locked<Interruption?>(nil)
        let work = Task { try await action() }
        let stop: @Sendable (Interruption) -> Void = { reason in
            interruption.withLock { $0 = $0 ?? reason }
            work.cancel()
        }
        let hasEnded = shared.withLock { shared in
            if shared.state != .ended { shared.stop = { stop(.ended) } }
            return shared.state == .ended
        }
        if hasEnded { stop(.ended) }
        let timer = limit.map { timers.schedule(after: $0) { stop(.silence) } }
        defer {
            timer?.cancel()
            _ = shared.withLock { replace(&$0.stop, with: nil) }
        }
        do {
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch {
            if let reason = interruption.withLock({ $0 }) { throw reason }
            try Task.checkCancellation()
            throw error
        }
    }
}
