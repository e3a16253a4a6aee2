import Dispatch
import Testing

@testable import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    @Test func writesWhatTheStandardSays() throws {
        let body = MultipartBody(
            [
                .field("a", "1"), .data("b", filename: "b.bin", contentType: "image/png", Data("2".utf8)),
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

    @Test func noPartsAreABodyToo() throws {
        let body = MultipartBody([], subtype: "mixed", boundary: "a b")
        #expect(String(decoding: try body.encode().data(upTo: 100), as: UTF8.self) == "--a b--\r\n")
        #expect(body.additionalHeaders["Content-Type"] == #"multipart/mixed; boundary="a b""#)
        #expect(!body.isEmpty)
        #expect(try parse(self.body([])).isEmpty)
    }

    @Test func theSameDrawGivesTheSameBytes() throws {
        let parts = [MultipartBody.Part.field("a", "1")]
        #expect(try boundary(body(parts, seed: 7)) == boundary(body(parts, seed: 7)))
        #expect(try boundary(body(parts, seed: 7)) != boundary(body(parts, seed: 8)))
        #expect(try boundary(MultipartBody(parts)) != boundary(MultipartBody(parts)))
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func randomPartsComeBack(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let first = try boundary(body([], seed: seed))
        var expected: [MultipartParser.Part] = []
        var parts: [MultipartBody.Part] = []
        for index in 0..<Int.random(in: 0...6, using: &generator) {
            let name = randomName(&generator)
            let content = randomContent(planting: first, &generator)
            let filename = Bool.random(using: &generator) ? randomName(&generator) : nil
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                let text = String(decoding: content, as: UTF8.self)
                parts.append(.field(name, text))
                expected.append(.init(name: name, content: Data(text.utf8)))
            case 1:
                parts.append(.data(name, filename: filename, contentType: "a/b", content))
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

    @Test func aBoundaryInTheContentIsPassedOver() throws {
        var planted = Data()
        var boundaries: [String] = []
        for _ in 0..<4 {
            for part: MultipartBody.Part in [.data("a", planted), .file("a", try directory.file(planted))] {
                let boundary = try boundary(body([part]))
                #expect(planted.firstRange(of: Data("--\(boundary)".utf8)) == nil)
                #expect(try parse(body([part])).map(\.content) == [planted])
                if boundaries.last != boundary { boundaries.append(boundary) }
            }
            planted += Data("x--\(try #require(boundaries.last))".utf8)
        }
        #expect(Set(boundaries).count == 4 && boundaries.count == 4)
        // In a name it cannot do harm, but is passed over all the same.
        #expect(try boundary(body([.field("--\(boundaries[0])", "")])) == boundaries[1])
    }

    @Test func aBoundaryAcrossTheEdgeOfAWindowIsFound() throws {
        let window = HTTPBodyReader.largestPiece
        let first = try boundary(body([]))
        let needle = Data("--\(first)".utf8)
        for edge in [window, 2 * window] {
            for before in [0, 1, 2, needle.count / 2, needle.count - 1, needle.count] {
                let start = edge - before
                let content = Data(repeating: 0x2D, count: start) + needle
                let file = try directory.file(content)
                #expect(try boundary(body([.file("a", file)])) != first, "\(before) before \(edge)")
                #expect(try boundary(body([.file("a", directory.file(content.dropLast()))])) == first)
            }
        }
    }

    @Test func aGivenBoundaryMayNotOccur() throws {
        let file = try directory.file(Data("..--XX..".utf8))
        for part: MultipartBody.Part in [.field("a", "--XX"), .file("a", file)] {
            let body = MultipartBody([part], boundary: "XX")
            let error = try #require(throws: HTTPBodyError.self) { try body.encode() }
            #expect(error.reason.contains("“XX” occurs"))
            #expect(body.additionalHeaders.isEmpty)
        }
        #expect(try parse(MultipartBody([.field("a", "-XX")], boundary: "XX")).count == 1)
    }

    @Test(arguments: ["", "x ", "a\r\nb", "é", "a\"b", "a;b", String(repeating: "x", count: 71)])
    func aGivenBoundaryIsChecked(boundary: String) {
        #expect(throws: HTTPBodyError.self) { try MultipartBody([], boundary: boundary).encode() }
    }

    @Test(arguments: ["x", "a b", "0'()+_,-./:=?z", String(repeating: "x", count: 70)])
    func aGivenBoundaryOfTheStandardsSetPasses(boundary: String) throws {
        let body = MultipartBody([.field("a", "b")], boundary: boundary)
        #expect(try self.boundary(body) == boundary)
        #expect(try parse(body).count == 1)
    }

    // MARK: What cannot be sent

    @Test(arguments: [
        "", "text", "a/b\r\nX: y", "a/b/c", "a /b", "a/b x", "/b", "a/", "a/b\nX", "a/b;\u{0}", "é/b",
    ])
    func aContentTypeIsChecked(type: String) throws {
        let body = body([.data("a", contentType: type, Data())])
        let error = try #require(throws: HTTPBodyError.self) { try body.encode() }
        #expect(!error.reason.utf8.contains(10))
        #expect(body.additionalHeaders.isEmpty)
    }

    @Test func aSubtypeIsChecked() {
        #expect(throws: HTTPBodyError.self) { try MultipartBody([], subtype: "a; b\r\n", boundary: "x").encode() }
    }

    @Test func aMissingFileStaysMissing() throws {
        let url = directory.url.appending(path: "late")
        let body = body([.file("a", url)])
        #expect(body.additionalHeaders.isEmpty)
        _ = try directory.file("late", Data("x".utf8))
        // The caller that asked for the headers has seen none; a boundary now would not be in them.
        #expect(throws: HTTPBodyError.self) { try body.encode() }
        #expect(try parse(self.body([.file("a", url)])).count == 1)
    }

    @Test func aFileThatChangedIsNotEncodedAgain() throws {
        let file = try directory.file(Data("one".utf8))
        let body = body([.file("a", file)])
        _ = try body.encode()
        try directory.touch(file)
        let error = try #require(throws: HTTPBodyError.self) { try body.encode() }
        #expect(error.reason.contains("changed"))
    }

    @Test func everyThreadSeesTheSameBoundary() throws {
        let file = try directory.file(Data(repeating: 1, count: 300_000))
        for _ in 0..<20 {
            let body = MultipartBody([.field("a", "b"), .file("c", file)])
            let seen = Locked<Set<String?>>([])
            DispatchQueue.concurrentPerform(iterations: 8) { turn in
                let boundary = turn.isMultiple(of: 2) ? body.headerBoundary : body.contentBoundary
                seen.withLock { _ = $0.insert(boundary) }
            }
            #expect(seen.withLock { $0 } == [try boundary(body)])
        }
    }
}

extension MultipartBody {
    fileprivate var headerBoundary: String? {
        additionalHeaders["Content-Type"].flatMap { try? MultipartParser.boundary(of: $0) }
    }

    /// The boundary as the first line of the content has it, behind two hyphens.
    fileprivate var contentBoundary: String? {
        var reader = (try? encode())?.makeReader()
        let line = try? reader?.read(upTo: 1_000)?.prefix { $0 != ASCII.carriageReturn }
        return line.map { String(decoding: $0.dropFirst(2), as: UTF8.self) }
    }
}
