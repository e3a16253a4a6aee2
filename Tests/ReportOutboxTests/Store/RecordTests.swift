import DurableFiles
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10))) struct RecordTests {
    private static let id = ReportID("id-1")
    private static let request: HTTPRequest = {
        var request = HTTPRequest(
            method: "REPORT", scheme: "http", host: "example.com", port: 8080, path: "/a b/ü",
            queryItems: [HTTPQueryItem("q", "1&2"), HTTPQueryItem("empty", nil)],
            headers: ["X-One": "1", "x-two": "zwei ü", "X-Empty": ""])
        request.headers.append("2", for: "X-One")
        return request
    }()

    private func written(_ content: Data, seal: (any ReportSeal)? = nil) throws -> MemoryDirectory {
        let disk = MemoryDirectory()
        let store = ReportStore(files: disk, durability: .process, seal: seal)
        let head = RecordHead(try #require(Self.id), Self.request, adding: ["Content-Type": "text/plain"])
        let size = try store.write(head, .data(content), as: "file", limit: .max)
        #expect(size == Int64(content.count))
        return disk
    }

    @Test(arguments: [0, 1, 1_000, 65_536, 65_537, 131_072, 200_000])
    func recordIsReadAsWritten(_ count: Int) throws {
        for seal in [nil, XORSeal(key: 3)] {
            let disk = try written(bytes(count), seal: seal)
            let (head, body) = try ReportStore(files: disk, durability: .process, seal: seal).read("file")
            #expect(try body.encode().data(upTo: .max) == bytes(count))
            #expect(try body.encode().length == Int64(count))
            let request = head.request(body: body)
            #expect(request.url == Self.request.url)
            #expect(request.method == "REPORT")
            #expect(request.headers.values(for: "X-One") == ["1", "2"])
            #expect(request.headers["X-Two"] == "zwei ü")
            #expect(request.headers["Content-Type"] == "text/plain")
            #expect(request.headers["Idempotency-Key"] == "id-1")
            #expect(request.isRepeatable)
        }
    }

    @Test func requestWithoutHostIsKeptUnchanged() throws {
        let bare = HTTPRequest(method: .post, path: "reports")
        let id = try #require(Self.id)
        let head = try #require(RecordHead(encoded: RecordHead(id, bare, adding: [:]).encoded))
        #expect(head.host == nil && head.port == nil && head.query == nil && head.path == "reports")
    }

    @Test func truncatedOrCorruptRecordIsRejected() throws {
        for seal in [nil, XORSeal(key: 3)] {
            let disk = try written(bytes(300), seal: seal)
            let whole = try #require(disk.bytes(of: "file"))
            let store = ReportStore(files: disk, durability: .process, seal: seal)
            func isRead(_ bytes: Data) -> Bool {
                disk.put(bytes, at: "file")
                return (try? store.read("file")) != nil
            }
            #expect(isRead(whole))
            for length in 0..<whole.count { #expect(!isRead(whole.prefix(length)), "cut after \(length) bytes") }
            for index in whole.indices {
                var bad = whole
                bad[index] ^= 1 << (index % 8)
                // The length of the report is in the tail, and is compared with that in the name.
                let isInLength = whole.count - 16..<whole.count - 8 ~= index
                #expect(!isRead(bad) || isInLength, "byte \(index)")
            }
            #expect(!isRead(whole + [0]))
        }
    }

    @Test func randomBytesAreRejected() {
        let disk = MemoryDirectory()
        let store = ReportStore(files: disk, durability: .process, seal: nil)
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2_000 {
            var noise = Data((0..<Int(generator.next() % 90)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
            // Half of them begin like a report.
            if generator.next() % 2 == 0 { noise = Data([0x4C, 0x43, 0x42, 0x31]) + noise }
            disk.put(noise, at: "file")
            #expect((try? store.read("file")) == nil)
            #expect(RecordHead(encoded: noise) == nil)
        }
    }

    @Test func wrongSealKeyDoesNotOpenRecord() throws {
        let disk = try written(bytes(10), seal: XORSeal(key: 3))
        for seal in [nil, XORSeal(key: 4)] {
            let store = ReportStore(files: disk, durability: .process, seal: seal)
            #expect {
                _ = try store.read("file")
            } throws: { error in
                if case .sealed? = error as? RecordProblem { true } else { false }
            }
        }
        // A report that was written without a seal needs none, whatever the settings are now.
        let plain = try written(bytes(10))
        #expect(
            try ReportStore(files: plain, durability: .process, seal: XORSeal(key: 4)).read("file").body.length == 10)
    }

    /// A report is verified, and then opened again by its path.
    @Test func fileThatTookThePlaceOfVerifiedReportIsNotSent() throws {
        let directory = try TemporaryDirectory()
        let store = ReportStore(files: try SystemDirectory(directory.url), durability: .process, seal: nil)
        let head = RecordHead(try #require(Self.id), Self.request, adding: [:])
        for name in ["file", "other"] { _ = try store.write(head, .data(bytes(300)), as: name, limit: .max) }
        let body = try store.read("file").body
        #expect(try body.encode().data(upTo: .max) == bytes(300))
        try store.files.rename("other", to: "file")
        #expect(throws: HTTPBodyError.self) { try body.encode().data(upTo: .max) }
    }

    @Test func tooLongHeadIsRejectedAndLeavesNoFile() throws {
        let disk = MemoryDirectory()
        let store = ReportStore(files: disk, durability: .process, seal: nil)
        let request = HTTPRequest(host: "example.com", headers: ["X-Long": String(repeating: "x", count: 2 << 20)])
        let head = RecordHead(try #require(Self.id), request, adding: [:])
        #expect(throws: OutboxError.self) { try store.write(head, .empty, as: "file", limit: .max) }
        #expect(disk.names == [])
    }
}
