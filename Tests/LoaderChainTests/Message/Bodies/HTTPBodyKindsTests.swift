import DurableFilesTesting
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPBodyKindsTests {
    private func text(_ body: some HTTPBody) throws -> String {
        let content = try body.encode()
        let data = try content.data(upTo: 1 << 20)
        #expect(content.length.map { $0 == Int64(data.count) } ?? true)
        return String(decoding: data, as: UTF8.self)
    }

    private struct Plain: HTTPBody {
        func encode() -> HTTPBodyContent { .data(Data("plain".utf8)) }
    }

    @Test func customBodyUsesDefaultProperties() throws {
        #expect(!Plain().isEmpty && Plain().canBeSentAgain && Plain().additionalHeaders.isEmpty)
        #expect(try text(Plain()) == "plain")
    }

    @Test func emptyBodyHasNoBytesOrHeaders() throws {
        #expect(EmptyBody().isEmpty && EmptyBody().additionalHeaders.isEmpty)
        #expect(try text(EmptyBody()) == "")
    }

    @Test func dataBodyHasItsBytesAndContentType() throws {
        let body = DataBody(Data("abc".utf8), contentType: "text/plain")
        #expect(try text(body) == "abc" && text(body) == "abc")
        #expect(body.additionalHeaders == ["Content-Type": "text/plain"] && !body.isEmpty && DataBody(Data()).isEmpty)
    }

    // MARK: JSON

    private final class Unshareable: Encodable {
        var tags = Dictionary(uniqueKeysWithValues: (0..<50).map { ("key\($0)", $0) })
    }

    @Test func jsonIsEncodedOnce() throws {
        let value = Unshareable()
        let body = JSONBody(value)
        let first = try text(body)
        value.tags = [:]
        #expect(try text(body) == first && first.contains("key49"))
        #expect(body.additionalHeaders == ["Content-Type": "application/json"])
        #expect(try text(JSONBody(["b", "a"])) == #"["b","a"]"#)
    }

    @Test func jsonEncodingErrorNamesPathButNotValue() throws {
        struct Order: Encodable { var lines = [Line()] }
        struct Line: Encodable { var price = Double.infinity }
        struct Secretive: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue("hunter2", .init(codingPath: [], debugDescription: "hunter2"))
            }
        }
        let body = JSONBody(Order())
        for _ in 0..<2 {
            let error = try #require(throws: HTTPBodyError.self) { try body.encode() }
            #expect(error.reason.contains("Order") && error.reason.contains("at lines[0].price,"))
            #expect(error.underlyingError is EncodingError)
        }
        let error = try #require(throws: HTTPBodyError.self) { try JSONBody(Secretive()).encode() }
        #expect(!"\(error)".contains("hunter2"))
        // The keys of a dictionary are part of the value.
        let other = try #require(throws: HTTPBodyError.self) { try JSONBody(["hunter2": Double.nan]).encode() }
        #expect(!other.reason.contains("hunter2"))
    }

    // MARK: Forms

    @Test(arguments: [
        ([("a", "b"), ("c", "d")], "a=b&c=d"), ([("a b", "c+d&e=f%")], "a+b=c%2Bd%26e%3Df%25"),
        ([("k", "1"), ("j", "2"), ("k", "3")], "k=1&j=2&k=3"), ([("", "")], "="), ([], ""),
        ([("*-._", "~!'()/?")], "*-._=%7E%21%27%28%29%2F%3F"),
        ([("é", "€🎈\r\n\0")], "%C3%A9=%E2%82%AC%F0%9F%8E%88%0D%0A%00"),
    ])
    func formsAreEscaped(fields: [(String, String)], encoded: String) throws {
        let body = FormBody(fields.map { (name: $0.0, value: $0.1) })
        #expect(try text(body) == encoded && text(body) == encoded)
        #expect(body.isEmpty == fields.isEmpty)
        #expect(body.additionalHeaders == ["Content-Type": "application/x-www-form-urlencoded"])
    }

    @Test func formKeepsOrderOfLiteral() throws {
        var body: FormBody = ["z": "1", "a": "2", "z": "3"]
        body.append("4", for: "b")
        #expect(try text(body) == "z=1&a=2&z=3&b=4")
    }

    // MARK: Files and streams

    @Test func fileBodyReadsFileWhenEncoded() throws {
        let directory = try TemporaryDirectory()
        let body = FileBody(directory.url.appending(path: "late"), contentType: "text/plain")
        #expect(throws: HTTPBodyError.self) { try body.encode() }
        _ = try directory.file("late", Data("here now".utf8))
        #expect(try text(body) == "here now" && text(body) == "here now")
        #expect(body.additionalHeaders == ["Content-Type": "text/plain"])
    }

    private func stream(length: Int64? = nil, _ pieces: [String]) -> StreamBody {
        let rest = Locked(pieces[...])
        return StreamBody(length: length) { rest.withLock { $0.popFirst() }.map { Data($0.utf8) } }
    }

    @Test func streamCanBeReadOnce() throws {
        let body = stream(["ab", "", "", "cdefg", ""])
        #expect(!body.canBeSentAgain)
        let content = try body.encode()
        #expect(content.length == nil)
        var reader = content.makeReader()
        for piece in ["ab", "cd", "ef", "g", nil, nil] {
            #expect(try reader.read(upTo: 2) == piece.map { Data($0.utf8) })
        }
        #expect(throws: HTTPBodyError.self) { try body.encode() }
        // A second reader would find the bytes gone, and say the body is empty.
        #expect(throws: HTTPBodyError.self) { try content.data(upTo: 100) }
    }

    @Test func streamMustMatchItsLength() throws {
        #expect(try text(stream(length: 4, ["ab", "cd"])) == "abcd")
        #expect(throws: HTTPBodyError.self) { try text(stream(length: 5, ["ab", "cd"])) }
        #expect(throws: HTTPBodyError.self) { try text(stream(length: 3, ["ab", "cd"])) }
        #expect(throws: HTTPBodyError.self) { try stream(length: -1, []).encode() }
        #expect(stream(length: 0, []).isEmpty)
    }

    @Test func errorsOfStreamHaveTheirCodes() throws {
        let once = stream(["ab"])
        let content = try once.encode()
        let encodedAgain = #expect(throws: HTTPBodyError.self) { try once.encode() }
        #expect(encodedAgain?.code == .alreadyRead)
        #expect(try content.data(upTo: 2) == Data("ab".utf8))
        let readAgain = #expect(throws: HTTPBodyError.self) { try content.data(upTo: 2) }
        #expect(readAgain?.code == .alreadyRead)
        for pieces in [["a"], ["ab", "c"]] {
            let wrong = #expect(throws: HTTPBodyError.self) { try text(stream(length: 2, pieces)) }
            #expect(wrong?.code == .wrongLength)
        }
        let negative = #expect(throws: HTTPBodyError.self) { try stream(length: -1, []).encode() }
        #expect(negative?.code == .invalidBody)
    }

    @Test func errorOfStreamReachesReader() throws {
        struct Torn: Error {}
        var reader = try StreamBody { throw Torn() }.encode().makeReader()
        #expect(throws: Torn.self) { try reader.read(upTo: 1) }
        #expect(throws: Torn.self) { try reader.read(upTo: 1) }
    }
}
