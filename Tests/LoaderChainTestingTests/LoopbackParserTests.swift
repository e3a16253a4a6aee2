import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChainTesting

@Suite(.timeLimit(.minutes(10))) struct LoopbackParserTests {
    typealias Outcome = LoopbackRequestParser.Outcome

    /// Every outcome except `needsMore`, for bytes fed in pieces.
    static func outcomes(
        _ pieces: [[UInt8]], limits: LoopbackLimits = LoopbackLimits()
    ) -> [Outcome] {
        var parser = LoopbackRequestParser(limits: limits)
        var outcomes: [Outcome] = []
        for piece in pieces {
            parser.feed(piece)
            loop: while true {
                let outcome = parser.next()
                switch outcome {
                case .needsMore: break loop
                case .refused:
                    outcomes.append(outcome)
                    return outcomes
                case .request, .continueExpected: outcomes.append(outcome)
                }
            }
        }
        return outcomes
    }

    static func requests(_ text: String, limits: LoopbackLimits = LoopbackLimits()) -> [LoopbackRequest] {
        outcomes([Array(text.utf8)], limits: limits).compactMap {
            if case .request(let request) = $0 { request } else { nil }
        }
    }

    static func refusal(_ text: String, limits: LoopbackLimits = LoopbackLimits()) -> HTTPStatus? {
        guard case .refused(let refusal) = outcomes([Array(text.utf8)], limits: limits).last else { return nil }
        return refusal.status
    }

    @Test func parserReadsRequestWithoutBody() throws {
        let text = "GET /a/b?c=d?e HTTP/1.1\r\nHost: x\r\nX-Two:  one \r\nx-two:\ttwo\r\nEmpty:\r\n\r\n"
        let request = try #require(Self.requests(text).first)
        #expect(request.method == "GET")
        #expect(request.target == "/a/b?c=d?e")
        #expect(request.path == "/a/b")
        #expect(request.query == "c=d?e")
        #expect(request.headers.values(for: "X-TWO") == ["one", "two"])
        #expect(request.headers["empty"] == "")
        #expect(request.headers["none"] == nil)
        #expect(request.headers.map(\.name) == ["Host", "X-Two", "x-two", "Empty"])
        #expect(request.body.isEmpty)
        #expect(request.raw == Data(text.utf8))
        #expect(request.keepsAlive)
    }

    @Test func parserReadsTargetsOfEveryForm() throws {
        func target(_ target: String) throws -> LoopbackRequest {
            try #require(Self.requests("GET \(target) HTTP/1.1\r\n\r\n").first)
        }
        #expect(try target("http://host:1/p/q?r").path == "/p/q")
        #expect(try target("HTTP://host?r").path == "/")
        #expect(try target("HTTP://host?r").query == "r")
        #expect(try target("*").path == "*")
        #expect(try target("/x").query == nil)
    }

    @Test func parserReadsBodiesAndPipelinedRequests() {
        let first = "POST /1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
        let second =
            "\r\nPUT /2 HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0A \r\n0123456789\r\n0\r\nT: v\r\n\r\n"
        let third = "GET /3 HTTP/1.0\r\n\r\n"
        let requests = Self.requests(first + second + third)
        #expect(requests.map(\.text) == ["hello", "abc0123456789", ""])
        #expect(requests.map(\.raw) == [first, second, third].map { Data($0.utf8) })
        #expect(requests.map(\.trailers.count) == [0, 1, 0])
        #expect(requests.map(\.keepsAlive) == [true, true, false])
    }

    @Test func expectContinueIsReportedOnce() {
        let head = "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"
        #expect(Self.outcomes([Array(head.utf8)]) == [.continueExpected])
        #expect(Self.outcomes([Array(head.utf8), [65], [66]]).count == 2)
        #expect(Self.requests("GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n").count == 1)
    }

    @Test(arguments: [
        "GARBAGE\r\n", "GET /\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", " GET / HTTP/1.1\r\n",
        "GET / HTTX/1.1\r\n", "GET / HTTP/11\r\n", "GET /\u{e9} HTTP/1.1\r\n", "G(T / HTTP/1.1\r\n", "\u{0}",
        "\u{16}\u{3}\u{1}", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\r", "GET / HTTP/1.1\r\nA: b\u{0}",
        "GET / HTTP/1.1\r\nA : b\r\n", "GET / HTTP/1.1\r\nnothing\r\n", "GET / HTTP/1.1\r\n: b\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n folded: c\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 0x5\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding:\r\n\r\n",
    ])
    func parserRefusesBadHeads(_ text: String) {
        #expect(Self.refusal(text) == 400)
    }

    @Test(arguments: [
        "x\r\n", "\r\n", ";a\r\n", "-1\r\n", "1 1\r\n", "0x1\r\n", "10000000000000000\r\n", "3\r\nabcd", "3\r\nabc\n",
        "3\nabc", "1\r\na\r\n0\r\nbad\r\n", "1;\u{0}",
    ])
    func parserRefusesBadChunks(_ chunks: String) {
        #expect(Self.refusal("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks) == 400)
    }

    @Test func parserRefusesUnsupportedVersionAndEncoding() {
        #expect(Self.refusal("GET / HTTP/2.0\r\n") == 505)
        #expect(Self.refusal("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n") == 501)
    }

    @Test func limitsAreExactToTheByte() {
        let limits = LoopbackLimits(headBytes: 40, bodyBytes: 5)
        let head = "GET / HTTP/1.1\r\nA: "  // 19 bytes, and four more end it.
        #expect(Self.requests(head + String(repeating: "a", count: 17) + "\r\n\r\n", limits: limits).count == 1)
        #expect(Self.refusal(head + String(repeating: "a", count: 18) + "\r\n\r\n", limits: limits) == 431)
        #expect(Self.refusal(String(repeating: "a", count: 41), limits: limits) == 431)
        #expect(Self.refusal(String(repeating: "\r\n", count: 21), limits: limits) == 431)

        let post = "POST / HTTP/1.1\r\nContent-Length: "
        let body = LoopbackLimits(bodyBytes: 5)
        #expect(Self.requests(post + "5\r\n\r\nhello", limits: body).count == 1)
        #expect(Self.refusal(post + "6\r\n\r\n", limits: body) == 413)
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(Self.requests(chunked + "5\r\nhello\r\n0\r\n\r\n", limits: body).count == 1)
        #expect(Self.refusal(chunked + "3\r\nhel\r\n3\r\n", limits: body) == 413)
        #expect(Self.refusal(chunked + "ffffffffffffffff\r\n", limits: body) == 413)

        let small = LoopbackLimits(headBytes: 60)
        let extensions = String(repeating: "1;\(String(repeating: "x", count: 18))\r\na\r\n", count: 4)
        #expect(Self.refusal(chunked + extensions, limits: small) == 400)
        #expect(Self.refusal(chunked + "0\r\n" + String(repeating: "A: b\r\n", count: 20), limits: small) == 431)
    }

    @Test func outcomesDoNotDependOnHowBytesAreCut() {
        let texts = [
            "\r\nPOST /1 HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhelloGET /2 HTTP/1.1\r\n\r\n",
            "PUT /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: v\r\n\r\nGARBAGE \u{1}",
            "GET / HTTP/1.1\r\nA: b\rc",
        ]
        for text in texts {
            let bytes = Array(text.utf8)
            let whole = Self.outcomes([bytes])
            #expect(Self.outcomes(bytes.map { [$0] }) == whole)
            for cut in bytes.indices {
                #expect(Self.outcomes([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole)
            }
        }
    }

    @Test func mutatedRequestsDoNotTrapOrLoseBytes() {
        for seed in 0..<2_000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let bytes = LoopbackMutation.mutated(using: &random)
            let whole = Self.outcomes([bytes], limits: LoopbackLimits(headBytes: 200, bodyBytes: 40))
            let pieces = LoopbackMutation.cut(bytes, using: &random)
            let cut = Self.outcomes(pieces, limits: LoopbackLimits(headBytes: 200, bodyBytes: 40))
            #expect(cut == whole, "seed \(seed)")
            let raw = whole.flatMap { outcome -> [UInt8] in
                if case .request(let request) = outcome { Array(request.raw) } else { [] }
            }
            #expect(bytes.starts(with: raw), "seed \(seed)")
        }
    }
}
