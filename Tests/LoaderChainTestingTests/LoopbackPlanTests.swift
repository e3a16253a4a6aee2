import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChainTesting

@Suite(.timeLimit(.minutes(10))) struct LoopbackPlanTests {
    static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n"

    static func request(_ text: String = "GET / HTTP/1.1\r\n\r\n") throws -> LoopbackRequest {
        try #require(LoopbackParserTests.requests(text).first)
    }

    static func steps(_ reply: LoopbackReply, to text: String = "GET / HTTP/1.1\r\n\r\n") throws -> [LoopbackPlan.Step]
    {
        LoopbackPlan(reply, to: try request(text)).steps
    }

    static func send(_ text: String) -> LoopbackPlan.Step { .send(Data(text.utf8)) }

    @Test func plainReplyIsSentInOneStep() throws {
        #expect(try Self.steps(.ok("hello")) == [Self.send(Self.head + "hello")])
    }

    @Test func connectionClosesWhenEitherSideAsksForIt() throws {
        let closing = try Self.steps(.status(200), to: "GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n")
        #expect(closing == [Self.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close])
        #expect(try Self.steps(.status(200), to: "GET / HTTP/1.0\r\n\r\n") == closing)
        #expect(try Self.steps(.ok().closing()).last == .close)
    }

    @Test func interruptionsAreOrderedByPlace() throws {
        let reply = LoopbackReply.ok("hello")
            .held(at: .body(2)).delayed(.seconds(1)).delayed(.seconds(2), at: .head(4)).held().delayed(.zero, at: .end)
        #expect(
            try Self.steps(reply) == [
                .wait(.seconds(1)), .hold, Self.send("HTTP"), .wait(.seconds(2)),
                Self.send(Self.head.dropFirst(4) + "he"), .hold, Self.send("llo"), .wait(.zero),
            ])
    }

    @Test func replyStopsWhereItIsCut() throws {
        #expect(try Self.steps(.ok("hello").hangingUp(at: .head(4))) == [Self.send("HTTP"), .close])
        #expect(try Self.steps(.ok("hello").aborting(at: .body(2))) == [Self.send(Self.head + "he"), .reset])
        #expect(try Self.steps(.ok("hello").aborting(at: .body(99))) == [Self.send(Self.head + "hello"), .reset])
        #expect(try Self.steps(.hangUp().delayed(.seconds(1))) == [.close])
        #expect(
            try Self.steps(.ok("hello").delayed(.seconds(1)).hangingUp(at: .start)) == [.wait(.seconds(1)), .close])
        #expect(try Self.steps(.abort()) == [.reset])
        #expect(try Self.steps(.ok("hello").hangingUp(at: .head(-1))) == [.close])
        #expect(try Self.steps(.verbatim("garbage")) == [Self.send("garbage"), .close])
    }

    @Test func drippingAppliesToWholeReplyOrBody() throws {
        let pause = Duration.milliseconds(5)
        let all = Data((Self.head + "hello").utf8)
        #expect(try Self.steps(.ok("hello").dripping(3, every: pause)) == [.drip(all, portion: 3, interval: pause)])
        let body = LoopbackPlan.Step.drip(Data("hello".utf8), portion: 1, interval: pause)
        #expect(
            try Self.steps(.ok("hello").dripping(0, every: pause, sparesHead: true)) == [Self.send(Self.head), body])
        #expect(
            try Self.steps(.ok("hello").dripping(1, every: pause, sparesHead: true).hangingUp(at: .head(4)))
                == [Self.send("HTTP"), .close])
    }

    @Test func forbiddenBodiesAreLeftOut() throws {
        #expect(try Self.steps(.ok("hello"), to: "HEAD / HTTP/1.1\r\n\r\n") == [Self.send(Self.head)])
        #expect(
            try Self.steps(LoopbackReply(204, body: .bytes(Data([1])))) == [
                Self.send("HTTP/1.1 204 No Content\r\n\r\n")
            ])
        #expect(try Self.steps(.status(304)) == [Self.send("HTTP/1.1 304 Not Modified\r\n\r\n")])
    }

    @Test func chunksAreFramed() throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(
            try Self.steps(.chunks(["abc", "", "0123456789"], trailers: ["T": "v"]))
                == [Self.send(head + "3\r\nabc\r\na\r\n0123456789\r\n0\r\nT: v\r\n\r\n")])
        #expect(
            try Self.steps(.ok("hello").chunked(by: 4)) == [Self.send(head + "4\r\nhell\r\n1\r\no\r\n0\r\n\r\n")])
        #expect(LoopbackReply.ok("").chunked(by: 0).body == .chunks([], trailers: [:]))
    }

    @Test func falseContentLengthIsSentUnchanged() throws {
        let lie = LoopbackReply(200, reason: "Fine", headers: ["content-length": "9"], body: .bytes(Data("x".utf8)))
        #expect(try Self.steps(lie) == [Self.send("HTTP/1.1 200 Fine\r\ncontent-length: 9\r\n\r\nx")])
    }

    @Test func commonRepliesHaveTheirHeaders() {
        #expect(LoopbackReply.unauthorized(challenge: "Bearer").headers["WWW-Authenticate"] == "Bearer")
        #expect(LoopbackReply.tooManyRequests(retryAfter: 7).headers["Retry-After"] == "7")
        #expect(LoopbackReply.unavailable().headers.isEmpty)
        #expect(LoopbackReply.redirect(to: "../x", status: 308).headers["Location"] == "../x")
    }
}

@Suite(.timeLimit(.minutes(10))) struct StoredGzipTests {
    @Test func checksumMatchesKnownValue() {
        #expect(StoredGzip.checksum(of: "123456789".utf8) == 0xCBF4_3926)
        #expect(StoredGzip.checksum(of: []) == 0)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 200_000])
    func storedStreamDecodesToItsInput(_ count: Int) throws {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        #expect(try Self.decoded(StoredGzip.stream(of: bytes)) == bytes)
        // A slice, whose indices do not begin at zero.
        #expect(try Self.decoded(StoredGzip.stream(of: bytes.dropFirst(3))) == Data(bytes.dropFirst(3)))
    }

    /// Decodes stored blocks, and checks the framing of gzip as strictly as any decoder.
    static func decoded(_ stream: Data) throws -> Data {
        var rest = [UInt8](stream)[...]
        func take(_ count: Int) throws -> [UInt8] {
            try #require(rest.count >= count)
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number(_ count: Int) throws -> Int {
            try take(count).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(try take(4) == [0x1F, 0x8B, 8, 0])
        _ = try take(6)
        var bytes: [UInt8] = []
        while true {
            let kind = try number(1)
            #expect(kind <= 1)
            let length = try number(2)
            #expect(try number(2) == length ^ 0xFFFF)
            bytes += try take(length)
            if kind == 1 { break }
        }
        #expect(try number(4) == Int(StoredGzip.checksum(of: bytes)))
        #expect(try number(4) == bytes.count)
        #expect(rest.isEmpty)
        return Data(bytes)
    }
}
