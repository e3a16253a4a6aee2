import LoaderChain
import LoaderChainPlatformFoundation

// Loopback: an HTTP server in the test's process, with every fault. It uses no other folder.

/// An HTTP/1.1 server within the test process, on a real socket, whose responses can have any fault.
///
/// ```swift
/// let server = try LoopbackServer()
/// server.route("/hello") { _ in .ok("hello") }
/// server.route("/slow") { _ in .ok("late").delayed(.milliseconds(50)) }
/// server.route("/torn") { _ in .ok("hello").hangingUp(at: .body(3)) }
/// server.route("/flaky", replies: .unavailable(retryAfter: 0), .ok("at last"))
/// server.route("/upload", method: .put) { request in .echo(request) }
///
/// let (body, _) = try await URLSession.shared.data(from: server.url("/hello"))
/// #expect(body == Data("hello".utf8))
/// #expect(server.requests.first?.headers["Accept"] == "*/*")
/// ```
///
/// The server listens at an unused port of 127.0.0.1 from its initialiser on, and ends with ``stop()`` or when it is released.
/// No other server of the process gets its port, so a client that still tries a stopped server does not reach another test's.
/// Each connection has a thread of its own, on which the routes run: a route may block, and runs without a lock of the
/// server.
///
/// To inspect a request before the response is sent, hold the reply and wait for it. Nothing has to sleep:
///
/// ```swift
/// server.route("/held") { _ in .ok("done").held() }
/// let task = Task { try await client.load(server.url("/held")) }
/// let held = try await server.waitForHeld(count: 1)
/// #expect(held[0].request.method == .get)
/// held[0].release()
/// ```
///
/// While a reply is held, delayed or between two portions, a client that closes its sending side counts as gone.
public final class LoopbackServer: Sendable {
    /// Thrown by a wait that cannot be fulfilled any more, because the server was stopped.
    public struct Stopped: Error, Sendable, Hashable {
        init() {}
    }

    /// The port at which the server listens.
    public let port: Int
    /// The address of the server, without a path.
    public let baseURL: URL

    let core: LoopbackCore
    private let waitsForThreads: Bool

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - limits: the limits for requests and connections.
    ///   - port: the port, for example that of a server that was stopped, to test how clients behave when a server comes
    ///     back; 0, the default, for an unused one.
    public convenience init(limits: LoopbackLimits = LoopbackLimits(), port: UInt16 = 0) throws {
        try self.init(limits: limits, port: port, waitsForThreads: true) { $0.run() }
    }

    /// Starts a server that knows no HTTP: `service` reads and writes the bytes of each connection, on a thread of its own.
    ///
    /// Its end does not wait for them, since they may wait for the test.
    package convenience init(serving service: @escaping @Sendable (LoopbackConnection) -> Void) throws {
        try self.init(limits: LoopbackLimits(), port: 0, waitsForThreads: false, service: service)
    }

    private init(
        limits: LoopbackLimits, port: UInt16, waitsForThreads: Bool,
        service: @escaping @Sendable (LoopbackConnection) -> Void
    ) throws {
        self.waitsForThreads = waitsForThreads
        core = try LoopbackCore(limits: limits, service: service)
        let (socket, port) = try LoopbackSocket.listening(port: port)
        self.port = port
        do {
            guard let baseURL = URL(string: "http://127.0.0.1:\(port)") else {
                throw SystemError("URL.init", code: 0)  // Not reached: the text is an address.
            }
            self.baseURL = baseURL
            let listener = LoopbackListener(socket: socket, core: core)
            try core.run { listener.run() }
        } catch {
            socket.close()
            throw error
        }
    }

    deinit { core.stop(waits: waitsForThreads) }

    /// Ends every connection in any state, and returns when its threads are done, and its sockets closed.
    ///
    /// This waits for running routes, since they cannot be interrupted. A route that stops its own server does not wait for
    /// itself. Calling this again has no effect.
    public func stop() { core.stop() }

    /// The URL of a path, which may contain a query; invalid characters are percent-encoded.
    public func url(_ path: String) -> URL {
        let encoded = PercentEncoding.target.encodeKeepingEscapes(path.hasPrefix("/") ? path : "/" + path)
        // The base URL is never used: everything that could make the URL invalid has been encoded.
        return URL(string: "http://127.0.0.1:\(port)" + encoded) ?? baseURL
    }
}

// MARK: - Responses

extension LoopbackServer {
    /// Responds to requests for a path, with one method or with any, by calling a closure.
    ///
    /// The path is compared with ``LoopbackRequest/path`` as it was sent. A later route replaces an earlier one for the same
    /// path and method; a route with a method takes precedence over one without. Requests without a route get a 404.
    public func route(
        _ path: String, method: HTTPMethod? = nil, _ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackReply
    ) {
        core.set(answer, path: path, method: method)
    }

    /// Responds to requests for a path with one reply after the other, and then with the last one forever.
    public func route(_ path: String, method: HTTPMethod? = nil, replies first: LoopbackReply, _ rest: LoopbackReply...)
    {
        let script = Locked([first] + rest)
        route(path, method: method) { _ in
            script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
    }

    /// Responds to requests without a route, instead of a 404.
    public func fallback(_ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackReply) {
        core.set(fallback: answer)
    }
}

// MARK: - Requests and connections

extension LoopbackServer {
    /// Every request so far, in the order in which they were completed.
    public var requests: [LoopbackRequest] { core.ledger.read(\.requests) }

    /// The number of connections accepted so far.
    public var connectionCount: Int { core.ledger.read(\.connectionCount) }

    /// The number of connections that are open on this side.
    public var openConnections: Int { core.ledger.read(\.openConnections) }

    /// Waits until `count` requests have arrived in all, and returns every request so far.
    ///
    /// Throws ``Stopped`` if the server ends before, or `CancellationError` if the task is cancelled.
    @discardableResult
    public func waitForRequests(count: Int) async throws -> [LoopbackRequest] {
        try await core.wait { $0.requests.count >= count }
        return requests
    }

    /// Waits until `count` connections have been accepted in all.
    ///
    /// Throws like ``waitForRequests(count:)``.
    public func waitForConnections(count: Int) async throws {
        try await core.wait { $0.connectionCount >= count }
    }

    /// Waits until at most `count` connections are open, to see that a client has closed its connection.
    ///
    /// Throws `CancellationError` if the task is cancelled. Stopping the server fulfils the wait.
    public func waitForOpenConnections(atMost count: Int) async throws {
        try await core.wait(outlivingServer: true) { $0.openConnections <= max(0, count) }
    }
}

// MARK: - Held replies

extension LoopbackServer {
    /// The held replies, in the order in which they were held.
    public var held: [LoopbackHold] {
        core.ledger.read(\.held).map { LoopbackHold(request: $0.request, number: $0.number, core: core) }
    }

    /// Waits until `count` replies are held at once, and returns them.
    ///
    /// Throws like ``waitForRequests(count:)``.
    @discardableResult
    public func waitForHeld(count: Int) async throws -> [LoopbackHold] {
        try await core.wait { $0.held.count >= count }
        return held
    }

    /// Releases all held replies, or only those to requests for a path.
    public func release(_ path: String? = nil) {
        core.release { path == nil || $0.request.path == path }
    }
}

/// A reply of a ``LoopbackServer`` that waits to be released.
public struct LoopbackHold: Sendable {
    /// The request that the reply is for.
    public let request: LoopbackRequest
    let number: Int
    let core: LoopbackCore

    /// Releases the reply, so that the server continues to send it.
    ///
    /// Calling this again has no effect.
    public func release() { core.release { $0.number == number } }
}

/// The limits beyond which a ``LoopbackServer`` refuses a client.
public struct LoopbackLimits: Sendable, Hashable {
    /// The longest head, and the longest trailer, in bytes; a longer one gets a 431.
    public let headBytes: Int
    /// The longest body in bytes; a longer one gets a 413.
    public let bodyBytes: Int
    /// How many connections are served at once; further ones wait until one of them ends.
    public let connections: Int

    /// Whether the server keeps every request for ``LoopbackServer/requests``; without it, no wait for requests ends.
    public let keepsRequests: Bool

    /// Makes limits; each is clamped to a range that cannot overflow.
    public init(
        headBytes: Int = 64 << 10, bodyBytes: Int = 64 << 20, connections: Int = 512, keepsRequests: Bool = true
    ) {
        // A quarter of the address space, so that adding a few limits cannot overflow.
        let range = 1...Int.max / 4
        self.headBytes = headBytes.clamped(to: range)
        self.bodyBytes = bodyBytes.clamped(to: 0...range.upperBound)
        self.connections = connections.clamped(to: range)
        self.keepsRequests = keepsRequests
    }
}

extension Comparable {
    func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
