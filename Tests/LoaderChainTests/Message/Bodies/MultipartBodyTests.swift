import DurableFilesTesting
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct MultipartBodyTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func body(_ parts: [MultipartBody.Part], seed: UInt64 = 1) -> MultipartBody {
        var generator = SeededGenerator(seed: seed)
        return MultipartBody(parts, using: &generator)
    }

    private func boundary(_ body: MultipartBody) throws -> String {
        try MultipartParser.boundary(of: #require(body.additionalHeaders["Content-Type"]))
    }

    /// The body's parts, after a look at what every body must keep to.
    private func parse(_ body: MultipartBody) throws -> [MultipartParser.Part] {
        let content = try body.encode()
        let data = try content.data(upTo: .max)
        #expect(content.length == Int64(data.count))
        #expect(try body.encode().data(upTo: .max) == data)
        try body.additionalHeaders.validate()
        return try MultipartParser.parse(data, contentType: #require(body.additionalHeaders["Content-Type"]))
    }

    @Test func encodedBodyMatchesStandard() throws {
        let body = MultipartBody(
            [
                .field("a", "1"), .data("b", Data("2".utf8), filename: "b.bin", contentType: "image/png"),
                .file("c", try directory.file("c.txt", Data("3".utf8)), contentType: "text/plain; charset=utf-8"),
            ], boundary: "XX")
        #expect(body.additionalHeaders == ["Content-Type": "multipart/form-data; boundary=XX"])
        let expected = """
            --XX
            Content-Disposition: form-data; name="a"

            1
            --XX
            Content-Disposition: form-data; name="b"; filename="b.bin"
            Content-Type: image/png

            2
            --XX
            Content-Disposition: form-data; name="c"; filename="c.txt"
            Content-Type: text/plain; charset=utf-8

            3
            --XX--

            """.replacing("\n", with: "\r\n")
        #expect(String(decoding: try body.encode().data(upTo: 1_000), as: UTF8.self) == expected)
    }

    @Test func bodyWithoutPartsIsEncoded() throws {
        let body = MultipartBody([], subtype: "mixed", boundary: "a b")
        #expect(String(decoding: try body.encode().data(upTo: 100), as: UTF8.self) == "--a b--\r\n")
        #expect(body.additionalHeaders["Content-Type"] == #"multipart/mixed; boundary="a b""#)
        #expect(!body.isEmpty)
        #expect(try parse(self.body([])).isEmpty)
    }

    @Test func equalSeedGivesEqualBoundary() throws {
        let parts = [MultipartBody.Part.field("a", "1")]
        #expect(try boundary(body(parts, seed: 7)) == boundary(body(parts, seed: 7)))
        #expect(try boundary(body(parts, seed: 7)) != boundary(body(parts, seed: 8)))
        #expect(try boundary(MultipartBody(parts)) != boundary(MultipartBody(parts)))
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func randomPartsRoundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        // Almost a boundary: what looks like one is a part of the content.
        let almost = try String(boundary(body([], seed: seed)).dropLast())
        var expected: [MultipartParser.Part] = []
        var parts: [MultipartBody.Part] = []
        for index in 0..<Int.random(in: 0...6, using: &generator) {
            let name = randomName(&generator)
            let content = randomContent(planting: almost, &generator)
            let filename = Bool.random(using: &generator) ? randomName(&generator) : nil
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                let text = String(decoding: content, as: UTF8.self)
                parts.append(.field(name, text))
                expected.append(.init(name: name, content: Data(text.utf8)))
            case 1:
                parts.append(.data(name, content, filename: filename, contentType: "a/b"))
                expected.append(.init(name: name, filename: filename, contentType: "a/b", content: content))
            default:
                let file = try directory.file("\(index)", content)
                parts.append(.file(name, file, filename: filename))
                expected.append(
                    .init(
                        name: name, filename: filename ?? "\(index)", contentType: "application/octet-stream",
                        content: content))
            }
        }
        #expect(try parse(body(parts, seed: seed)) == expected, "seed \(seed)")
    }

    private func randomName(_ generator: inout SeededGenerator) -> String {
        let alphabet = ["a", "Z", "\"", "\r\n", "\r", "\n", "é", "🎈", " ", ";", "=", "filename", "\\", "--", ":"]
        return (0..<Int.random(in: 0...8, using: &generator)).map { _ in
            alphabet[Int.random(in: alphabet.indices, using: &generator)]
        }.joined()
    }

    private func randomContent(planting boundary: String, _ generator: inout SeededGenerator) -> Data {
        let pieces = [
            "\r\n", "--", "\r\n--\(boundary)", "--\(boundary)--\r\n", "-", boundary, "text", "\r", "\n", "\0", "é",
        ]
        return (0..<Int.random(in: 0...20, using: &generator)).reduce(into: Data()) { content, _ in
            content += pieces[Int.random(in: pieces.indices, using: &generator)].utf8
        }
    }

    // MARK: Boundaries

    /// It is drawn whole from the numbers, and from no others.
    @Test func boundaryHas128RandomBits() throws {
        struct Counting: RandomNumberGenerator {
            var number: UInt64 = 0x0123_4567_89AB_CDEE
            mutating func next() -> UInt64 {
                number += 1
                return number
            }
        }
        var generator = Counting()
        #expect(try boundary(MultipartBody([], using: &generator)) == "0123456789abcdef0123456789abcdf0")
        #expect(try boundary(MultipartBody([], using: &generator)) == "0123456789abcdf10123456789abcdf2")
    }

    @Test(arguments: ["", "x ", "a\r\nb", "é", "a\"b", "a;b", String(repeating: "x", count: 71)])
    func invalidBoundaryIsRejected(boundary: String) {
        let body = MultipartBody([], boundary: boundary)
        #expect(throws: HTTPBodyError.self) { try body.encode() }
        #expect(body.additionalHeaders.isEmpty)
    }

    @Test(arguments: ["x", "a b", "0'()+_,-./:=?z", String(repeating: "x", count: 70)])
    func validBoundaryIsAccepted(boundary: String) throws {
        let body = MultipartBody([.field("a", "b")], boundary: boundary)
        #expect(try self.boundary(body) == boundary)
        #expect(try parse(body).count == 1)
    }

    // MARK: What cannot be sent

    @Test(arguments: [
        "", "text", "a/b\r\nX: y", "a/b/c", "a /b", "a/b x", "/b", "a/", "a/b\nX", "a/b;\u{0}", "é/b",
    ])
    func invalidContentTypeIsRejected(type: String) throws {
        let body = body([.data("a", Data(), contentType: type)])
        let error = try #require(throws: HTTPBodyError.self) { try body.encode() }
        #expect(!error.reason.utf8.contains(10))
    }

    @Test func invalidSubtypeIsRejected() {
        let body = MultipartBody([], subtype: "a; b\r\n", boundary: "x")
        #expect(throws: HTTPBodyError.self) { try body.encode() }
        #expect(body.additionalHeaders.isEmpty)
    }

    @Test func fileIsReadWhenBodyIsEncoded() throws {
        let url = directory.url.appending(path: "late")
        let body = body([.file("a", url)])
        #expect(throws: HTTPBodyError.self) { try body.encode() }
        for content in ["x", "another"] {
            _ = try directory.file("late", Data(content.utf8))
            #expect(try parse(body).map(\.content) == [Data(content.utf8)])
        }
    }

    @Test func fileChangedAfterEncodingIsRejected() throws {
        let file = try directory.file(Data("one".utf8))
        let content = try body([.file("a", file)]).encode()
        try directory.touch(file)
        let error = try #require(throws: HTTPBodyError.self) { try content.data(upTo: 1_000) }
        #expect(error.code == .changedFile)
    }
}
