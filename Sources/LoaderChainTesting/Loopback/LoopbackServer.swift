import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An HTTP/1.1 server within the test process, on a real socket, that answers as badly as you ask it to.
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
/// The server listens at an unused port of 127.0.0.1 from its initialiser on, and ends with ``stop()`` or with its last
/// reference. Each connection has a thread of its own, on which the routes run: a route may take its time, and no lock
/// of the server is held around it.
///
/// To look at a request before it is answered, hold the reply and wait for it. Nothing has to sleep:
///
/// ```swift
/// server.route("/held") { _ in .ok("done").held() }
/// let task = Task { try await client.load(server.url("/held")) }
/// let held = try await server.waitForHeld(count: 1)
/// #expect(held[0].request.method == .get)
/// held[0].release()
/// ```
///
/// While a reply waits, be it held, delayed or between two drips, a client that closes its sending side counts as gone.
public final class LoopbackServer: Sendable {
    /// The error of a wait that the end of the server has made hopeless.
    public struct Stopped: Error, Sendable, Hashable {
        init() {}
    }

    /// The port that the server listens at.
    public let port: Int
    /// The address of the server, without a path.
    public let baseURL: URL

    let core: LoopbackCore

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - limits: what it puts up with.
    ///   - port: where it listens, such as the port of a server that was stopped, for a test of what becomes of clients when
    ///     a server comes back; 0, the default, for an unused one.
    public init(limits: LoopbackLimits = LoopbackLimits(), port: UInt16 = 0) throws {
        core = try LoopbackCore(limits: limits)
        let socket = try LoopbackSocket.listening(port: port)
        do {
            self.port = try socket.port()
            guard let baseURL = URL(string: "http://127.0.0.1:\(self.port)") else {
                throw SystemError("URL.init", code: 0)  // Not reached: the text is an address.
            }
            self.baseURL = baseURL
            try core.start(LoopbackListener(socket: socket, core: core))
        } catch {
            socket.close()
            throw error
        }
    }

    deinit {
        core.abandon()
    }

    /// Ends every connection in whatever it is doing, and returns when no thread and no socket of the server is left.
    ///
    /// A route that is running is waited for, as nothing can end it from outside. A route that stops its own server does
    /// not wait for itself. To stop twice does nothing.
    public func stop() {
        core.stop()
    }

    /// The address of a path, which may bring a query; what an address cannot hold is percent-encoded.
    public func url(_ path: String) -> URL {
        let encoded = PercentEncoding.target.encodeKeepingEscapes(path.hasPrefix("/") ? path : "/" + path)
        // Never without an address: what could spoil it has been encoded.
        return URL(string: "http://127.0.0.1:\(port)" + encoded) ?? baseURL
    }
}

// MARK: - What it answers

extension LoopbackServer {
    /// Answers requests for a path, of one method or of all, by a closure.
    ///
    /// The path is compared with ``LoopbackRequest/path`` as it was sent. A later route replaces an earlier one for the
    /// same path and method; a route with a method goes before one without. What no route wants gets a 404.
    public func route(
        _ path: String, method: HTTPMethod? = nil, _ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackReply
    ) {
        core.set(answer, path: path, method: method)
    }

    /// Answers requests for a path by one reply after the other, and then by the last one for ever.
    public func route(_ path: String, method: HTTPMethod? = nil, replies first: LoopbackReply, _ rest: LoopbackReply...)
    {
        let script = Guarded([first] + rest)
        route(path, method: method) { _ in
            script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
    }

    /// Answers what no route wants, in place of a 404.
    public func fallback(_ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackReply) {
        core.set(fallback: answer)
    }
}

// MARK: - What it has seen

extension LoopbackServer {
    /// Every request so far, in the order in which they were complete.
    public var requests: [LoopbackRequest] { core.requests }

    /// How many connections have been accepted so far.
    public var connectionCount: Int { core.connectionCount }

    /// How many connections are open on this side.
    public var openConnections: Int { core.openConnections }

    /// Waits for a number of requests in all, and returns every request so far.
    ///
    /// Throws ``Stopped`` if the server ends before, or `CancellationError` if the task is cancelled.
    @discardableResult
    public func waitForRequests(count: Int) async throws -> [LoopbackRequest] {
        try await core.wait(for: .requests(count))
        return requests
    }

    /// Waits until a number of connections in all have been accepted.
    ///
    /// Throws as ``waitForRequests(count:)`` does.
    public func waitForConnections(count: Int) async throws {
        try await core.wait(for: .connections(count))
    }

    /// Waits until no more than a number of connections are open, by which a test sees that a client has hung up.
    ///
    /// Throws `CancellationError` if the task is cancelled. The end of the server fulfils the wait.
    public func waitForOpenConnections(atMost count: Int) async throws {
        try await core.wait(for: .openConnections(atMost: count))
    }
}

// MARK: - What it holds back

extension LoopbackServer {
    /// The replies that wait to be released, in the order in which they began to.
    public var held: [LoopbackHold] {
        core.held.map { LoopbackHold(request: $0.request, number: $0.number, core: core) }
    }

    /// Waits until a number of replies are held at once, and returns those that are.
    ///
    /// Throws as ``waitForRequests(count:)`` does.
    @discardableResult
    public func waitForHeld(count: Int) async throws -> [LoopbackHold] {
        try await core.wait(for: .held(count))
        return held
    }

    /// Releases every reply that is held now, or only those to requests for a path.
    public func release(_ path: String? = nil) {
        core.release { path == nil || $0.request.path == path }
    }
}
