import Foundation
import LoaderChain
import LoaderChainTesting
import TestGunzip
import Testing

@testable import LoaderChainGzip

/// Bodies that are compressed with gzip.
@Suite(.timeLimit(.minutes(10))) struct GzipBodyTests {
    private struct Report: Encodable {
        var lines = Array(repeating: "the quick brown fox", count: 200)
    }

    private func bytes(of body: some HTTPBody) throws -> Data {
        try body.encode().data(upTo: 64 << 20)
    }

    @Test func sentBodyIsCompressedAndHasContentEncoding() async throws {
        let terminal = ScriptedTerminal()
        let plain = JSONBody(Report())
        let request = HTTPRequest(method: .post, host: "example.com", path: "/", body: GzipBody(plain))
        terminal.load(request: request) { _ in }
        let sent = try await terminal.next().request.encoded()
        #expect(sent.headers["Content-Encoding"] == "gzip")
        #expect(sent.headers["Content-Type"] == plain.additionalHeaders["Content-Type"])
        let compressed = try sent.content.data(upTo: .max)
        #expect(sent.headers["Content-Length"] == "\(compressed.count)")
        #expect(try gunzipped(compressed) == bytes(of: plain))
        #expect(try compressed.count < bytes(of: plain).count / 20)
    }

    /// A body that describes its bytes.
    private struct Described: HTTPBody {
        var additionalHeaders: HTTPHeaders {
            [
                "Content-Type": "text/plain", "Content-Digest": "sha-256=:AA==:",
                "Repr-Digest": "sha-256=:AA==:", "Digest": "sha-256=AA==", "Content-MD5": "AA==", "Content-Length": "5",
            ]
        }
        func encode() -> HTTPBodyContent { .data(Data("hello".utf8)) }
    }

    @Test func headersOfUncompressedBytesAreRemoved() throws {
        let body = GzipBody(Described())
        #expect(body.additionalHeaders == ["Content-Type": "text/plain", "Content-Encoding": "gzip"])
        let sent = try HTTPRequest(method: .post, host: "a.test", body: body).encoded()
        let compressed = try sent.content.data(upTo: 1 << 20)
        #expect(sent.headers["Content-Length"] == "\(compressed.count)")
        #expect(gunzipped(compressed) == Data("hello".utf8))
    }

    @Test(arguments: [0, 1, 256 << 10, 1 << 20, (1 << 20) + 1, 3_000_001])
    func fileBodyOfAnyLengthRoundTrips(_ count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        // Noise, so that the output exceeds a buffer.
        let noise = Data((0..<10_007).map { _ in UInt8.random(in: 0...255, using: &generator) })
        var content = Data()
        while content.count < count { content.append(noise + Data(String(content.count).utf8)) }
        content = content.prefix(count)
        let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try content.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let body = GzipBody(FileBody(url))
        #expect(try gunzipped(bytes(of: body)) == content)
        #expect(try body.encode().length == nil || count <= 1 << 20)
        // A second attempt gets the same bytes.
        #expect(try bytes(of: body) == bytes(of: body) && body.canBeSentAgain)
    }

    @Test func streamBodyOfUnknownLengthIsCompressed() throws {
        let left = Locked(40)
        let body = GzipBody(
            StreamBody {
                let number = left.withLock { left -> Int in
                    left -= 1
                    return left
                }
                return number < 0 ? nil : Data(repeating: UInt8(number), count: 100_000)
            })
        #expect(!body.canBeSentAgain)
        let compressed = try bytes(of: body)
        let content = Data((0..<40).reversed().flatMap { Array(repeating: UInt8($0), count: 100_000) })
        #expect(gunzipped(compressed) == content && compressed.count < 40_000)
    }

    @Test func streamIsNotReadBeforeItIsSent() throws {
        let calls = Locked(0)
        let stream = StreamBody(length: 5) {
            let call = calls.withLock { calls -> Int in
                calls += 1
                return calls
            }
            return call == 1 ? Data("hello".utf8) : nil
        }
        let content = try GzipBody(stream).encode()
        #expect(calls.withLock { $0 } == 0 && content.length == nil)
        let compressed = try content.data(upTo: 1 << 20)
        #expect(gunzipped(compressed) == Data("hello".utf8))
    }

    @Test func errorOfInnerBodyIsPassedOn() throws {
        struct Broken: Error {}
        let body = GzipBody(StreamBody { throw Broken() })
        #expect(throws: Broken.self) { try bytes(of: body) }
    }

    @Test func emptyBodyIsNotCompressed() throws {
        let body = GzipBody(DataBody(Data()))
        #expect(body.isEmpty && !body.additionalHeaders.contains("Content-Encoding"))
        #expect(try bytes(of: body).isEmpty)
    }

    @Test func encodedBodyIsNotEncodedTwice() throws {
        let once = GzipBody(JSONBody(Report()))
        let twice = GzipBody(once)
        #expect(try bytes(of: twice) == bytes(of: once))
        #expect(twice.additionalHeaders == once.additionalHeaders)
    }

    @Test(arguments: [-1, 1, 6, 9, 100])
    func everyLevelRoundTrips(_ level: Int) throws {
        let plain = JSONBody(Report())
        let body = GzipBody(plain, level: level)
        #expect(1...9 ~= body.level)
        #expect(try gunzipped(bytes(of: body)) == bytes(of: plain))
    }
}
