import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting
import Synchronization
import TestServers

/// Cancels at random moments, to find races in a terminal.
public enum Storm {
    /// Sends requests to a port that responds, drips and resets, and to one that refuses.
    public static func cancels(_ count: Int, with loader: HTTPLoader) async throws -> String {
        let server = try LoopbackServer()
        server.route("/quick") { _ in .ok("hello") }
        server.route("/slow") { _ in .ok("hello").dripping(1, every: .milliseconds(1), sparesHead: true) }
        server.route("/reset") { _ in .abort() }
        server.route("/basic") { _ in .unauthorized(challenge: #"Basic realm="realm""#) }
        server.route("/held") { _ in .ok("hello").held() }
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let refused = HTTPRequest(scheme: "http", host: "127.0.0.1", port: closed.number, path: "/")
        let requests =
            ["/quick", "/quick", "/slow", "/reset", "/basic", "/held"].map { HTTPRequest(url: server.url($0)) }
            + [refused, refused]
        return try await cancels(count, loader) { number, random in
            isLeftAlone(number) ? refused : requests[Int(random.next() % UInt64(requests.count))]
        }
    }

    /// Cancels while redirects are followed.
    public static func cancelledRedirects(_ count: Int, with loader: HTTPLoader) async throws -> String {
        let server = try LoopbackServer()
        server.route("/a") { _ in .redirect(to: "/b") }
        server.route("/b") { _ in .redirect(to: "/c") }
        server.route("/c") { _ in .ok() }
        return try await cancels(count, loader) { number, _ in
            var request = HTTPRequest(url: server.url("/a"))
            if number % 2 == 0 { request.redirects = .refuse }
            return request
        }
    }

    /// Cancels while bodies are sent.
    public static func cancelledUploads(_ count: Int, with loader: HTTPLoader) async throws -> String {
        let server = try LoopbackServer()
        server.fallback { _ in .ok() }
        let file = FileManager.default.temporaryDirectory.appending(path: "LoaderChainTests-\(UUID().uuidString)")
        try Data(count: 1 << 20).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await cancels(count, loader) { number, _ in
            var request = HTTPRequest(method: .put, url: server.url("/"))
            request.body = number % 2 == 0 ? FileBody(file) : DataBody(Data(count: 300_000))
            return request
        }
    }

    #if os(Linux)
        /// Kills a server that answers with large heads, again and again, while 16 requests are in flight.
        ///
        /// For one of them, the server is in the middle of the head.
        public static func killedServers(_ count: Int, with loader: HTTPLoader) async throws -> String {
            let fields = (0..<8).map { "add_header X-Large-\($0) \(String(repeating: "a", count: 3_000));" }
            let locations = "location / { return 200 hello; } location /slow { limit_rate 1k; return 200 hello; }"
            let tally = Tally()
            var random = SeededGenerator(seed: 1)
            for _ in 0..<count {
                guard let server = try NginxServer(fields.joined() + locations) else { return "nginx did not start" }
                let left = Locked(100 + Int(random.next() % 100))
                let (slow, hasEnded) = AsyncStream.makeStream(of: Void.self)
                // The connection of this one is made first, so its head has begun when a hundred responses have come.
                loader.load(request: server.request("slow")) { result in
                    tally.note(result)
                    hasEnded.finish()
                }
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<15 {
                        group.addTask { await load(from: server, with: loader, killingAfter: left, tally) }
                    }
                }
                for await _ in slow {}
            }
            return tally.summary(expecting: 16 * count)
        }

        /// Loads until the server is gone, and kills it when enough responses have come.
        private static func load(
            from server: NginxServer, with loader: HTTPLoader, killingAfter left: Locked<Int>, _ tally: Tally
        ) async {
            while true {
                do throws(HTTPError) {
                    let response = try await loader.load(server.request(""))
                    guard response.body == Data("hello".utf8) else { return tally.note("wrong body") }
                } catch {
                    return tally.note(error.code.rawValue)
                }
                let isTime = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isTime { server.kill() }
            }
        }
    #endif

    /// Whether a request is not cancelled.
    ///
    /// On a slow machine, all others may be cancelled before they end by themselves.
    private static func isLeftAlone(_ number: Int) -> Bool { number.isMultiple(of: 16) }

    /// Keeps 64 requests in flight; but for a few, each is cancelled after a random time, if it has not ended by then.
    private static func cancels(
        _ count: Int, _ loader: HTTPLoader, _ request: @escaping @Sendable (Int, inout SeededGenerator) -> HTTPRequest
    ) async throws -> String {
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<64 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    var number = worker
                    while number < count {
                        let next = request(number, &random)
                        let chance = random.next()
                        // At the latest after 40 milliseconds, so that held requests end too.
                        let delay = chance % 4 == 0 ? 0 : Int(chance / 4 % 40_000)
                        await load(next, with: loader, cancelledAfter: isLeftAlone(number) ? nil : delay, tally)
                        number += 64
                    }
                }
            }
        }
        await loader.reset()
        return tally.summary(expecting: count)
    }

    /// Loads a request, and cancels it after some microseconds.
    private static func load(
        _ request: HTTPRequest, with loader: HTTPLoader, cancelledAfter delay: Int?, _ tally: Tally
    ) async {
        await withUnsafeContinuation { (waiting: UnsafeContinuation<Void, Never>) in
            let completions = Completions()
            let task = loader.load(request: request) { result in
                tally.note(result)
                // A second completion would resume twice, and trap.
                completions.note()
                waiting.resume()
            }
            guard let delay else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) { task.cancel() }
        }
    }
}

/// The results of a run's requests.
final class Tally: Sendable {
    private let codes = Locked<[String: Int]>([:])

    func note(_ result: HTTPResult) {
        let code = result.error?.code.rawValue ?? "response"
        codes.withLock { $0[code, default: 0] += 1 }
    }

    func note(_ code: String) { codes.withLock { $0[code, default: 0] += 1 } }

    func summary(expecting count: Int) -> String {
        let codes = codes.withLock { $0 }
        let total = codes.values.reduce(0, +)
        let list = codes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "\(total == count ? "complete" : "INCOMPLETE \(total) of \(count)"): \(list)"
    }
}

/// Ensures that a completion happens once.
final class Completions: Sendable {
    private let count = Atomic(0)
    func note() {
        precondition(count.wrappingAdd(1, ordering: .relaxed).newValue == 1, "a task completed twice")
    }
}
