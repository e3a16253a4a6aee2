import Foundation
import LoaderChain
import LoaderChainTesting

/// A server that damages valid responses at random: bytes changed, dropped and doubled, cuts, pauses and resets.
///
/// It can avoid the faults that crash `URLSession` on Linux under any terminal: the end of the connection within the head or
/// within trailers, and a length of nearly 2^63.
public enum Fuzz {
    /// Loads so many requests, and returns how they ended.
    ///
    /// - Parameters:
    ///   - cutsHeads: whether a connection may end within a head.
    ///   - loader: the terminal, whose limit for responses in memory is 100,000 bytes.
    public static func exchanges(_ count: Int, cutsHeads: Bool, with loader: HTTPLoader) async throws -> String {
        let server = try LoopbackServer()
        server.fallback { request in reply(seed: UInt64(request.path.dropFirst()) ?? 0, cutsHeads: cutsHeads) }
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for number in stride(from: worker, to: count, by: 8) {
                        await exchange(number, server, loader, tally)
                    }
                }
            }
        }
        return tally.summary(expecting: count)
    }

    private static func exchange(
        _ number: Int, _ server: LoopbackServer, _ loader: HTTPLoader, _ tally: Tally
    ) async {
        var request = HTTPRequest(url: server.url("/\(number)"))
        request.timeout = .seconds(20)
        if number % 5 == 0 { request.delivery = .chunks }
        if number % 7 == 0 {
            request.method = .post
            request.body = DataBody(Data(repeating: 1, count: number % 5000))
        }
        do throws(HTTPError) {
            let response = try await loader.load(request)
            if let chunks = response.chunks {
                do {
                    _ = try await chunks.collect(upTo: 1 << 20)
                } catch let error as HTTPError {
                    return tally.note(error.code.rawValue)
                } catch {
                    return tally.note("\(type(of: error))")
                }
            }
            tally.note("response")
        } catch {
            tally.note(error.code == .unknown ? "\(error)" : error.code.rawValue)
        }
    }

    private static let heads: [HTTPHeaders] = [
        ["Content-Type": "text/plain"], ["Set-Cookie": "a=b; Expires=Wed, 21 Oct 2015 07:28:00 GMT"],
        ["Location": "/1", "WWW-Authenticate": "Basic realm=\"x\""],
        ["Retry-After": "1", "Content-Encoding": "identity"],
        ["Cache-Control": "max-age=10", "ETag": "\"x\"", "Vary": "*"], ["Content-Encoding": "gzip"],
    ]
    private static let statuses = [200, 200, 200, 204, 206, 301, 302, 304, 307, 400, 401, 404, 407, 429, 500, 503]

    private static func reply(seed: UInt64, cutsHeads: Bool) -> LoopbackReply {
        var random = SeededGenerator(seed: seed)
        func roll(_ sides: Int) -> Int { Int(random.next() % UInt64(sides)) }
        let status = HTTPStatus(statuses[roll(statuses.count)])
        let body = Data((0..<roll(3000)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        var reply = LoopbackReply(status, headers: heads[roll(heads.count)], body: .bytes(body))
        if status.isRedirection { reply.headers["Location"] = roll(2) == 0 ? "/\(roll(1000))" : nil }
        if roll(3) == 0 { reply = reply.chunked(by: roll(500) + 1) }
        if cutsHeads, roll(6) == 0 {
            let isAbort = roll(2) == 0
            let place = LoopbackReply.Place.head(roll(80))
            return isAbort ? reply.aborting(at: place) : reply.hangingUp(at: place)
        }
        switch roll(8) {
        case 0: return reply.hangingUp(at: .body(roll(body.count + 1)))
        case 1: return reply.aborting(at: .body(roll(body.count + 1)))
        case 2: return reply.delayed(.milliseconds(roll(20)), at: .head(roll(60)))
        case 3: return reply.dripping(roll(200) + 50, every: .milliseconds(1), sparesHead: true)
        case 4: return roll(2) == 0 ? .hangUp() : .abort()
        case 5: return .verbatim(bent(reply, body, &random))
        default: return reply
        }
    }

    /// The bytes of a reply with a few of them changed; the end of its head is kept.
    private static func bent(_ reply: LoopbackReply, _ body: Data, _ random: inout SeededGenerator) -> Data {
        var head = "HTTP/1.1 \(reply.status.rawValue) \(reply.reason)\r\nContent-Length: \(body.count)\r\n"
        for field in reply.headers { head += "\(field.name): \(field.value)\r\n" }
        var bytes = Array(head.utf8)
        for _ in 0..<random.next() % 4 {
            let place = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 3 {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.remove(at: place)
            default: bytes.insert(bytes[place], at: place)
            }
        }
        return Data(bytes) + Data("\r\n\r\n".utf8) + body
    }
}
