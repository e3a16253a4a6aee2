import DurableFilesTesting
import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import TestServers
import Testing

/// Bodies of requests.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct UploadTests {
    private func echo(_ body: any HTTPBody) async throws -> (sent: LoopbackRequest, response: HTTPResponse) {
        let site = try Site()
        site.server.route("/up", method: .put) { .ok("\($0.body.count)") }
        let response = try await site.load("/up") {
            $0.method = .put
            $0.body = body
        }
        return (try #require(site.server.requests.first), response)
    }

    @Test(arguments: [0, 1, 1000, 70_000, 3_000_000])
    func dataBodyArrivesUnchanged(_ size: Int) async throws {
        let (sent, response) = try await echo(DataBody(pattern(size)))
        #expect(sent.body == pattern(size))
        #expect(sent.headers["Content-Length"] == "\(size)")
        #expect(
            sent.headers.values(for: "Content-Type")
                == (size == 0 ? sent.headers.values(for: "Content-Type") : ["application/octet-stream"]))
        #expect(response.metrics?.bytesSent == Int64(size))
    }

    @Test(arguments: [0, 1, 49_152, 70_000, 3_000_000])
    func fileBodyArrivesUnchanged(_ size: Int) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.file("body", pattern(size))
        let (sent, response) = try await echo(FileBody(file, contentType: "image/png"))
        #expect(sent.body == pattern(size))
        #expect(sent.headers["Content-Length"] == "\(size)")
        #expect(sent.headers["Content-Type"] == "image/png")
        #expect(response.metrics?.bytesSent == Int64(size))
        #expect(folder.names == ["body"])
    }

    @Test func multipartBodyArrivesUnchanged() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.file("photo.png", pattern(600_000))
        let body = MultipartBody([.field("title", "Holiday"), .file("photo", file)], boundary: "divider")
        let (sent, _) = try await echo(body)
        #expect(sent.headers["Content-Type"]?.contains("boundary=divider") == true)
        let expected = try body.encode().data(upTo: 1 << 20)
        #expect(sent.body == expected)
        #expect(sent.body.range(of: pattern(600_000)) != nil)
    }

    @Test func streamBodyArrivesWithItsLength() async throws {
        let pieces = Locked((0..<30).map { pattern(10_000 + $0) })
        let whole = pieces.withLock { $0.reversed().reduce(Data(), +) }
        let earlier = try files(of: whole.count)
        let (sent, _) = try await echo(StreamBody { pieces.withLock { $0.popLast() } })
        #expect(sent.body == whole)
        #expect(sent.headers["Content-Length"] == "\(whole.count)")
        #expect(try files(of: whole.count) == earlier, "the temporary file is still there")
    }

    /// A length that the request says of a stream is not true, and a second one would make a part of the next request its body.
    @Test func streamWithoutBytesArrivesWithOneLength() async throws {
        let site = try Site()
        site.server.route("/up", method: .put) { .ok("\($0.body.count)") }
        _ = try await site.load("/up") {
            $0.method = .put
            $0.headers["Content-Length"] = "5"
            $0.body = StreamBody { nil }
        }
        let sent = try #require(site.server.requests.first)
        #expect(sent.headers.values(for: "Content-Length") == ["0"] && sent.body.isEmpty)
    }

    /// The temporary files with bodies of a length; other tests have bodies of other lengths.
    private func files(of length: Int) throws -> Set<String> {
        let folder = FileManager.default.temporaryDirectory
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".body") }
        return Set(
            names.filter {
                let values = try? folder.appending(path: $0).resourceValues(forKeys: [.fileSizeKey])
                return values?.fileSize == length
            })
    }

    @Test func unreadableBodyIsInvalidRequest() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        for body in [
            FileBody(try folder.file("missing")) as any HTTPBody,
            StreamBody(length: 5) { throw CocoaError(.fileReadUnknown) },
        ] {
            let error = await site.failure("/") {
                $0.method = .put
                $0.body = body
            }
            #expect(error?.code == .invalidRequest)
        }
        #expect(site.server.requests.isEmpty)
    }

    @Test(.only(.urlSession)) func bodyIsNotReadForInvalidMethod() async throws {
        let site = try Site()
        let reads = Locked(0)
        let error = await site.failure("/") {
            $0.method = "post"
            $0.body = StreamBody {
                reads.withLock { $0 += 1 }
                return nil
            }
        }
        #expect(error?.code == .invalidRequest)
        #expect(reads.withLock { $0 } == 0)
    }

    @Test func bodyWithGetIsRejected() async throws {
        let site = try Site()
        let error = await site.failure("/") { $0.body = DataBody(Data("x".utf8)) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func emptyPostHasContentLengthZero() async throws {
        let site = try Site()
        site.server.fallback { _ in .ok() }
        _ = try await site.load("/") { $0.method = .post }
        #expect(site.server.requests.first?.headers["Content-Length"] == "0")
    }

    @Test func progressIsReportedInBothDirections() async throws {
        let site = try Site()
        site.server.route("/", method: .put) { .ok($0.body) }
        let log = Locked<[TransferProgress]>([])
        let size = 500_000
        _ = try await site.load("/") {
            $0.method = .put
            $0.body = DataBody(pattern(size))
            $0.onProgress = { update in log.withLock { $0.append(update) } }
        }
        let updates = log.withLock { $0 }
        let expected = Int64(size)
        #expect(
            updates.last
                == TransferProgress(
                    bytesSent: expected, bytesToSend: expected, bytesReceived: expected, bytesToReceive: expected))
        for (one, next) in zip(updates, updates.dropFirst()) {
            #expect(one.bytesSent <= next.bytesSent && one.bytesReceived <= next.bytesReceived)
        }
    }

    @Test func progressBeginsAgainAfterRedirect() async throws {
        let site = try Site()
        site.server.route("/a", method: .put) { _ in .redirect(to: "/b", status: .temporaryRedirect) }
        site.server.route("/b", method: .put) { .ok("\($0.body.count)") }
        let log = Locked<[TransferProgress]>([])
        let size = 300_000
        _ = try await site.load("/a") {
            $0.method = .put
            $0.body = DataBody(pattern(size))
            $0.onProgress = { update in log.withLock { $0.append(update) } }
        }
        let last = try #require(log.withLock { $0 }.last)
        #expect(last.bytesSent == Int64(size) && last.bytesToSend == Int64(size) && last.fractionSent == 1)
        #expect(site.server.requests.map(\.body.count) == [size, size])
    }

    @Test(arguments: [false, true]) func lostConnectionNeverTruncatesBody(isInFile: Bool) async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        let file = try folder.file("body", pattern(1000))
        // The server closes the connection at the second request; the session would send it again on another connection.
        site.server.route("/first") { _ in .ok() }
        site.server.route("/second") { request in request.connection == 1 ? .hangUp() : .ok("\(request.body.count)") }
        _ = try await site.load("/first")
        do throws(HTTPError) {
            let response = try await site.load("/second") {
                $0.method = .post
                $0.body = isInFile ? FileBody(file) : DataBody(pattern(1000))
            }
            #expect(response.body == Data("1000".utf8))
        } catch {
            #expect(error.code == .connectionLost)
        }
        for request in site.server.requests.dropFirst() { #expect(request.body == pattern(1000)) }
    }
}
