import Dispatch
import DurableFiles
import Foundation
import LoaderChain
import LoaderChainPlatformC

/// The demo API: a real server on a loopback socket that no other machine can reach.
///
/// It answers one request per connection, and has a thread for each: the chain sends sixteen at once, and asks for its settings.
final class DemoServer {
    let port: Int
    private let source: any DispatchSourceRead

    /// The longest head in bytes; a longer one gets a 431.
    private static let longestHead = 64 << 10

    /// Starts the server, whose faults and delays `seed` determines, and whose payments endpoint is down for `outage`.
    ///
    /// It serves at most `connections` at once, and further ones wait; each ends after `patience`, which frees its thread.
    init(
        seed: UInt64, settings: DemoSettings = DemoSettings(), outage: Duration, timers: any Timers,
        connections: Int = 64, patience: Duration = .seconds(10)
    ) throws(ProgramError) {
        guard let (listener, port) = LocalSocket.bound() else { throw Self.failure }
        guard listen(listener, SOMAXCONN) == 0 else {
            defer { close(listener) }
            throw Self.failure
        }
        self.port = port
        let script = DemoScript(seed: seed, settings: settings, outage: outage, timers: timers)
        let open = Locked(0)
        source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: DispatchQueue(label: "demo API"))
        source.setEventHandler {
            let hasRoom = open.withLock { $0 < connections }
            let connection = hasRoom ? uninterrupted { LocalSocket.accepted(by: listener, blocking: true) }.answer : -1
            guard connection >= 0 else {
                // While there is no room or no descriptor, it would be called again at once.
                _ = poll(nil, 0, 50)
                return
            }
            open.withLock { $0 += 1 }
            Thread.detachNewThread {
                Self.serve(connection, script, until: .now + patience)
                close(connection)
                open.withLock { $0 -= 1 }
            }
        }
        source.setCancelHandler { close(listener) }
        source.resume()
    }

    func stop() { source.cancel() }

    private static var failure: ProgramError {
        ProgramError(.failure, "the demo API cannot listen on 127.0.0.1: \(SystemText.of(errno))")
    }

    private static func serve(_ connection: CInt, _ script: DemoScript, until deadline: ContinuousClock.Instant) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        func receive() -> ArraySlice<UInt8>? {
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            var look = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            guard left > 0, uninterrupted({ poll(&look, 1, CInt(left.rounded(.up))) }).answer > 0 else { return nil }
            let (count, _) = uninterrupted { recv(connection, &buffer, buffer.count, 0) }
            return count > 0 ? buffer[..<count] : nil
        }
        var head: [UInt8] = []
        var isWhole = false
        while !isWhole, head.count <= longestHead {
            guard let bytes = receive() else { return }
            head += bytes
            isWhole = head.suffix(bytes.count + 3).firstRange(of: "\r\n\r\n".utf8) != nil
        }
        let answer = script.answer(to: isWhole ? String(decoding: head, as: UTF8.self) : nil)
        Thread.sleep(forTimeInterval: answer.delay / .seconds(1))
        if let message = answer.message {
            _ = Array(message.utf8).withUnsafeBytes { LocalSocket.send($0, to: connection) }
        }
        // Closing with an unread body would reset the connection, and the reset may destroy the answer on its way.
        shutdown(connection, CInt(SHUT_WR))
        while receive() != nil {}
    }
}

/// What the demo API answers, and after which time.
private struct DemoScript: Sendable {
    struct Answer {
        var status: HTTPStatus = .ok
        var json = ""
        var retryAfter: Int?
        var tag: String?
        var delay: Duration = .zero
        /// Whether it closes the connection without a byte.
        var hangsUp = false

        /// The bytes of the answer; nil for none.
        var message: String? {
            guard !hangsUp else { return nil }
            var head = "HTTP/1.1 \(status.rawValue) \(status.reasonPhrase)\r\nConnection: close\r\n"
            head += "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n"
            if let tag { head += "ETag: \(tag)\r\n" }
            if let retryAfter { head += "Retry-After: \(retryAfter)\r\n" }
            return head + "\r\n" + json
        }
    }

    private let random: RandomSource
    private let settings: DemoSettings
    private let timers: any Timers
    private let endOfOutage: TimerInstant
    private let ration: Locked<DemoRation>

    init(seed: UInt64, settings: DemoSettings, outage: Duration, timers: any Timers) {
        random = RandomSource(seed: ~seed)
        self.settings = settings
        self.timers = timers
        let start = timers.now
        endOfOutage = start.advanced(by: outage)
        ration = Locked(DemoRation(perSecond: 6, at: start))
    }

    /// The answer to a request with this head; nil stands for one that is too long.
    func answer(to head: String?) -> Answer {
        guard let head else { return Answer(status: .requestHeaderFieldsTooLarge) }
        let words = head.split(separator: " ", maxSplits: 2)
        guard words.count == 3 else { return Answer(status: .badRequest) }
        let path = words[1].prefix { $0 != "?" }
        switch path {
        // Every article has its own path.
        case _ where path.hasPrefix("/v1/articles/"):
            return Answer(json: #"{"title":"Why we wait"}"#, delay: milliseconds(2...14))
        case "/v1/search": return Answer(json: #"{"found":[]}"#, delay: milliseconds(120...700))
        case "/v1/cart" where words[0] == "PUT":
            let (roll, delay) = (random.unit(), milliseconds(8...40))
            if roll < 0.06 { return Answer(delay: delay, hangsUp: true) }
            return roll < 0.3 ? Answer(status: .serviceUnavailable, delay: delay) : Answer(json: "{}", delay: delay)
        case "/v1/rates":
            let now = timers.now
            guard ration.withLock({ $0.take(at: now) }) else { return Answer(status: .tooManyRequests, retryAfter: 1) }
            return Answer(json: #"{"EUR":1}"#, delay: milliseconds(4...20))
        case "/v1/payments":
            let delay = milliseconds(5...30)
            return timers.now < endOfOutage
                ? Answer(status: .internalServerError, delay: delay) : Answer(json: "{}", delay: delay)
        case DemoSettings.path:
            let (document, tag) = settings.document
            let isKnown = head.lowercased().contains("if-none-match: \(tag)")
            return Answer(status: isKnown ? .notModified : .ok, json: isKnown ? "" : document, tag: tag)
        default: return Answer(status: .notFound)
        }
    }

    private func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        random.duration(in: .milliseconds(range.lowerBound)...(.milliseconds(range.upperBound)))
    }
}

/// The document with which the demo API turns the chain down.
final class DemoSettings: Sendable {
    static let path = "/settings.json"

    private let changes = Locked(0)

    /// Whether it turns the chain down.
    var isLow: Bool { !changes.withLock(\.self).isMultiple(of: 2) }

    /// Turns the chain down, or up again.
    func turn() { changes.withLock { $0 += 1 } }

    var document: (text: String, tag: String) {
        let revision = changes.withLock(\.self)
        let loaders = revision.isMultiple(of: 2) ? "{}" : #"{"shop":{"maximumNumberOfRequests":1}}"#
        return (#"{"revision":\#(revision),"loaders":\#(loaders)}"#, "\"\(revision)\"")
    }
}

/// Counts requests in a fixed window of one second.
struct DemoRation {
    private let perSecond: Int
    private var second: TimerInstant
    private var taken = 0

    init(perSecond: Int, at now: TimerInstant) {
        self.perSecond = perSecond
        second = now
    }

    mutating func take(at now: TimerInstant) -> Bool {
        if second.duration(to: now) >= .seconds(1) {
            second = now
            taken = 0
        }
        guard taken < perSecond else { return false }
        taken += 1
        return true
    }
}

enum DemoEndpoint: CaseIterable, Sendable {
    /// Fast and reliable.
    case articles
    /// Reliable, but always slow.
    case search
    /// Fails now and then, like a service with a crashing instance.
    case cart
    /// Answers 429 to clients that ask too often.
    case rates
    /// Down for most of the demo, and healthy at the end.
    case payments

    /// Requests per second.
    var rate: Double {
        switch self {
        case .articles: 18
        case .search: 6
        case .cart: 7
        case .rates: 5
        case .payments: 6
        }
    }

    var character: String {
        switch self {
        case .articles: "healthy"
        case .search: "slow"
        case .cart: "flaky"
        case .rates: "rate-limited"
        case .payments: "broken"
        }
    }

    /// The host; nil where the chain's environment fills it in.
    var host: String? {
        switch self {
        case .articles, .search, .cart: nil
        case .rates: "rates.example"
        case .payments: "pay.example"
        }
    }

    func request(_ random: RandomSource) -> HTTPRequest {
        switch self {
        case .articles: return HTTPRequest(path: "articles/\(1 + random.next() % 500)")
        case .search:
            var request = HTTPRequest(path: "search")
            request.queryItems = [HTTPQueryItem("q", "loader \(random.next() % 50)")]
            return request
        case .cart:
            var request = HTTPRequest(method: .put, path: "cart")
            request.body = FormBody([("article", "\(random.next() % 500)"), ("count", "1")])
            return request
        case .rates: return HTTPRequest(scheme: "http", host: host, path: "/v1/rates")
        case .payments: return HTTPRequest(scheme: "http", host: host, path: "/v1/payments")
        }
    }
}

/// The schedule of requests, which depends on the seed alone.
struct DemoTraffic: Sendable {
    struct Call: Sendable {
        let time: Duration
        let endpoint: DemoEndpoint
        let request: HTTPRequest
    }

    /// The requests, ordered by time.
    let calls: [Call]

    /// Draws independent arrivals (a Poisson process), like the requests of many users.
    init(seed: UInt64, duration: Duration) {
        let random = RandomSource(seed: seed)
        var calls: [Call] = []
        for endpoint in DemoEndpoint.allCases {
            var seconds = 0.0
            while true {
                seconds += -log(1 - random.unit()) / endpoint.rate
                let time = Duration.seconds(1) * seconds
                guard time < duration else { break }
                calls.append(Call(time: time, endpoint: endpoint, request: endpoint.request(random)))
            }
        }
        self.calls = calls.sorted { $0.time < $1.time }
    }

    /// `count` requests to each endpoint, all at once.
    init(burst count: Int) {
        let random = RandomSource(seed: 1)
        calls = DemoEndpoint.allCases.flatMap { endpoint in
            (0..<count).map { _ in Call(time: .zero, endpoint: endpoint, request: endpoint.request(random)) }
        }
    }
}
