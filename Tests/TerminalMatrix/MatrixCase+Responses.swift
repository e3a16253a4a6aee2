import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting

// What a terminal makes of responses.

extension MatrixCase {
    static let statuses: [MatrixCase] = standardStatuses.map { status in
        let isWithoutBody = [204, 304].contains(status)
        let losesBody = (301...308).contains(status) && status != 304
        return MatrixCase(
            .statuses, "\(status)", .reply { _ in .text("body", status: HTTPStatus(status)) },
            expecting: .response(
                status, isWithoutBody ? "" : "body",
                words: isWithoutBody ? "the response, without a body" : "the response, with its body"),
            urlSession: losesBody ? .response(status, "", words: "the response, without its body") : nil)
    }

    /// Every status that is registered and final, and some that are not registered.
    private static let standardStatuses =
        Array(200...208) + [226] + Array(300...308) + Array(400...418) + Array(421...426) + [428, 429, 431, 451]
        + Array(500...508) + [510, 511, 299, 399, 499, 599, 600, 999]

    static let heads: [MatrixCase] = [
        head("103 before the response", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + fine, is: .response("ok")),
        head("100 before the response", "HTTP/1.1 100 Continue\r\n\r\n" + fine, is: .response("ok")),
        head("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nok", is: .response("ok")),
        head(
            "no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", is: .response("ok"),
            urlSession: .error(.invalidResponse)),
        head(
            "LF instead of CR LF", fine.replacing("\r\n", with: "\n"), is: .response("ok"),
            urlSession: .error(.invalidResponse)),
        head(
            "no space after a colon", "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nok", is: .response("ok"),
            urlSession: .error(.invalidResponse)),
        head(
            "Latin-1 in a field", "HTTP/1.1 200 OK\r\nX-A: \u{FC}\r\nContent-Length: 2\r\n\r\nok", is: .response("ok"),
            urlSession: .error(.invalidResponse)),
        head("a folded field", "HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\nok", is: .response("ok")),
        head(
            "a field of 60,000 bytes",
            "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: 60_000))\r\nContent-Length: 2\r\n\r\nok",
            is: .response("ok")),
        head(
            "a field of 200,000 bytes",
            "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: 200_000))\r\nContent-Length: 2\r\n\r\nok",
            is: .error(.invalidResponse)),
        head(
            "a head of 400,000 bytes",
            "HTTP/1.1 200 OK\r\n\(String(repeating: "X-A: \(String(repeating: "a", count: 993))\r\n", count: 400))Content-Length: 2\r\n\r\nok",
            is: .error(.invalidResponse)),
        head(
            "a field without a colon", "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok",
            is: .error(.invalidResponse)),
        head(
            "a NUL in a field", "HTTP/1.1 200 OK\r\nX-A: \0\r\nContent-Length: 2\r\n\r\nok",
            is: .error(.invalidResponse)),
        head("status 099", "HTTP/1.1 099 x\r\nContent-Length: 2\r\n\r\nok", is: .error(.invalidResponse)),
        head("status 1000", "HTTP/1.1 1000 x\r\nContent-Length: 2\r\n\r\nok", is: .error(.invalidResponse)),
        head("HTTP/7.7", "HTTP/7.7 200 OK\r\nContent-Length: 2\r\n\r\nok", is: .error(.invalidResponse)),
        head("no head at all (HTTP/0.9)", "ok", is: .error(.invalidResponse)),
        head("arbitrary bytes", "\u{1}\u{2} nothing like it\r\n\r\n", is: .error(.invalidResponse)),
        head(
            "101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw",
            is: .error(.invalidResponse), urlSession: .response(101, "raw")),
        head("cut in the status line", "HTTP/1.1 20", is: .error(.connectionLost)),
        head("cut after the status line", "HTTP/1.1 200 OK\r\n", is: .error(.connectionLost), urlSession: .crash),
        head("cut in a field", "HTTP/1.1 200 OK\r\nContent-Le", is: .error(.connectionLost), urlSession: .crash),
        head("cut before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", is: .error(.connectionLost)),
        head("cut after 103", "HTTP/1.1 103 Early Hints\r\n\r\n", is: .error(.connectionLost)),
        head("nothing", "", is: .error(.connectionLost)),
    ]

    private static let fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func head(
        _ name: String, _ text: String, is expected: MatrixOutcome, urlSession: MatrixOutcome? = nil
    ) -> MatrixCase {
        MatrixCase(.heads, name, .verbatim(text), expecting: expected, urlSession: urlSession)
    }

    static let lengths: [MatrixCase] = [
        body("the announced length", "Content-Length: 5", "hello", is: .whole),
        body("a length of 0", "Content-Length: 0", "", is: .response("")),
        body("no length, until the connection ends", "X-A: b", "hello", is: .whole),
        body("chunks", "Transfer-Encoding: chunked", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", is: .whole),
        body("chunks with extensions", "Transfer-Encoding: chunked", "5;a=b\r\nhello\r\n0\r\n\r\n", is: .whole),
        body(
            "chunks, then trailers", "Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", is: .whole,
            urlSession: .crash),
        body(
            "chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 3", "5\r\nhello\r\n0\r\n\r\n",
            is: .whole),
        body("more than announced", "Content-Length: 5", "hello and more", is: .whole),
        body("less than announced", "Content-Length: 9", "hello", is: .error(.connectionLost)),
        body("no byte of the announced length", "Content-Length: 9", "", is: .error(.connectionLost)),
        body("a cut chunk", "Transfer-Encoding: chunked", "9\r\nhello", is: .error(.connectionLost)),
        body("no last chunk", "Transfer-Encoding: chunked", "5\r\nhello\r\n", is: .error(.connectionLost)),
        body("a chunk without a size", "Transfer-Encoding: chunked", "zz\r\nhello", is: .error(.invalidResponse)),
        body(
            "a chunk of 2^65 bytes", "Transfer-Encoding: chunked", "20000000000000000\r\nhello",
            is: .error(.invalidResponse)),
        body("a length twice, the same", "Content-Length: 5\r\nContent-Length: 5", "hello", is: .whole),
        body(
            "two lengths", "Content-Length: 3\r\nContent-Length: 5", "hello", is: .error(.invalidResponse),
            urlSession: .response("hello")),
        body(
            "a list of two lengths", "Content-Length: 3, 5", "hello", is: .error(.invalidResponse),
            urlSession: .response("hel")),
        body("a negative length", "Content-Length: -5", "hello", is: .error(.invalidResponse)),
        body("a length that is not a number", "Content-Length: five", "hello", is: .error(.invalidResponse)),
        body(
            "a length of 2^63−1", "Content-Length: 9223372036854775807", "hello", is: .error(.responseTooLarge),
            urlSession: .crash),
        body(
            "a length of 2^65", "Content-Length: 36893488147419103232", "hello", is: .error(.invalidResponse),
            urlSession: .whole),
        body(
            "a length above the limit of a response in memory", "Content-Length: 99999999999", "hello",
            is: .error(.responseTooLarge)),
        body("a response to HEAD with the length of its body", "Content-Length: 5", "", is: .response("")) {
            $0.method = .head
        },
        body(
            "204 with a length and a body", status: "204 No Content", "Content-Length: 5", "hello",
            is: .response(204, "")),
        body(
            "304 with the length of the body", status: "304 Not Modified", "Content-Length: 5", "",
            is: .response(304, "")),
    ]

    private static func body(
        _ name: String, status: String = "200 OK", _ fields: String, _ body: String, is expected: MatrixOutcome,
        urlSession: MatrixOutcome? = nil, request change: @escaping @Sendable (inout HTTPRequest) -> Void = { _ in }
    ) -> MatrixCase {
        MatrixCase(
            .lengths, name, .verbatim("HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n\(body)"), expecting: expected,
            urlSession: urlSession, request: change)
    }

    static let codings: [MatrixCase] = [
        coding("gzip", "gzip", gzip, is: .whole), coding("`x-gzip`", "x-gzip", gzip, is: .whole),
        coding("`GZIP`, in capitals", "GZIP", gzip, is: .whole),
        coding("deflate, with zlib's head", "deflate", zlib, is: .whole),
        coding("deflate, bare", "deflate", bareDeflate, is: .whole),
        coding("brotli", "br", brotli, is: .whole),
        coding(
            "brotli without its last byte", "br", brotli.dropLast(1), is: .error(.invalidResponse),
            urlSession: .whole),
        coding("identity", "identity", Data("hello".utf8), is: .whole),
        coding("gzip of an empty body", "gzip", StoredGzip.stream(of: Data()), is: .response("")),
        coding("gzip in chunks of a byte", "gzip", gzip, isChunked: true, is: .whole),
        coding(
            "gzip without its last 10 bytes", "gzip", gzip.dropLast(10), is: .error(.invalidResponse),
            urlSession: .response("hel")),
        coding(
            "gzip without its checksum and length", "gzip", gzip.dropLast(8), is: .error(.invalidResponse),
            urlSession: .whole),
        coding(
            "gzip with a wrong checksum", "gzip", gzip.dropLast(8) + Data(repeating: 1, count: 8),
            is: .error(.invalidResponse)),
        coding("gzip, then other bytes", "gzip", gzip + Data("more".utf8), is: .error(.invalidResponse)),
        coding(
            "gzip in two members", "gzip", gzip + gzip, is: .response("hellohello", words: "the whole body"),
            urlSession: .error(.invalidResponse)),
        coding(
            "deflate without its end", "deflate", zlib.dropLast(6), is: .error(.invalidResponse),
            urlSession: .response("hel")),
        coding("bytes that are not gzip", "gzip", Data("hello".utf8), is: .error(.invalidResponse)),
        coding("an unknown coding", "x-other", Data("hello".utf8), is: .error(.invalidResponse)),
        coding("gzip, for a response to HEAD", "gzip", Data(), is: .response("")) { $0.method = .head },
    ]

    private static let gzip = StoredGzip.stream(of: Data("hello".utf8))
    /// A stored block of five bytes.
    private static let bareDeflate = Data([1, 5, 0, 0xFA, 0xFF]) + Data("hello".utf8)
    /// The same with zlib's head and the Adler-32 of the text.
    private static let zlib = Data([0x78, 0x01]) + bareDeflate + Data([0x06, 0x2C, 0x02, 0x15])
    /// An uncompressed block of five bytes and the end of the stream.
    private static let brotli = Data([0x0B, 0x02, 0x80]) + Data("hello".utf8) + Data([0x03])

    private static func coding(
        _ name: String, _ coding: String, _ body: Data, isChunked: Bool = false, is expected: MatrixOutcome,
        urlSession: MatrixOutcome? = nil,
        request change: @escaping @Sendable (inout HTTPRequest) -> Void = { _ in }
    ) -> MatrixCase {
        MatrixCase(
            .codings, name,
            .reply { _ in
                let reply = LoopbackReply.ok(body).header("Content-Encoding", coding)
                return isChunked ? reply.chunked(by: 1) : reply
            }, expecting: expected, urlSession: urlSession, request: change)
    }

    static let timeouts: [MatrixCase] = [
        timeout("the server says nothing", .ok("hello").held()),
        timeout("the server stops within the head", .ok("hello").held(at: .head(20))),
        timeout("the server stops after the head", .ok("hello").held(at: .body(0))),
        timeout("the server stops within the body", .ok("hello").held(at: .body(3))),
        timeout("the server stops within a chunk", .chunks(["hello"]).held(at: .body(5))),
        timeout("the server sends 103 and stops", .verbatim("HTTP/1.1 103 Early Hints\r\n\r\n").held(at: .end)),
        MatrixCase(
            .timeouts, "the redirect's target says nothing",
            .reply { $0.target == "/" ? .redirect(to: "/next") : .ok("hello").held() }, expecting: .error(.timedOut)
        ) { $0.timeout = shortTime },
        MatrixCase(
            .timeouts, "the request's deadline passes", .reply { _ in .ok("hello").held() },
            expecting: .error(.deadlineExceeded)
        ) { $0.deadline = .after(shortTime) },
        MatrixCase(.timeouts, "a timeout of 0", .reply { _ in .ok("hello").held() }, expecting: .error(.timedOut)) {
            $0.timeout = .zero
        },
    ]

    private static let shortTime = Duration.milliseconds(100)

    private static func timeout(_ name: String, _ reply: LoopbackReply) -> MatrixCase {
        MatrixCase(.timeouts, name, .reply { _ in reply }, expecting: .error(.timedOut)) { $0.timeout = shortTime }
    }
}

extension MatrixOutcome {
    /// The page of the TLS servers.
    static let page = response("hello", words: "the response")
    /// The body that most cases send.
    static let whole = response("hello", words: "the whole body")
}
