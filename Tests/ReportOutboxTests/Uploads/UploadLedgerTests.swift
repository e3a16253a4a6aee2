import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10)))
struct UploadLedgerTests {
    private static let record = UploadRecord(
        content: UploadRecord.Content(key: "a%2fb", digest: "0123"), written: 1_000,
        answer: .answered(.serviceUnavailable, ["Retry-After": "7", "Set-Cookie": "secret", "X-A": "1"]))

    @Test func recordIsReadAsWrittenWithoutSecrets() throws {
        let read = try #require(UploadRecord(encoded: Self.record.encoded))
        #expect(read.content == Self.record.content && read.written == 1_000)
        #expect(read.answer == .answered(.serviceUnavailable, ["Retry-After": "7", "X-A": "1"]))
        #expect(!Self.record.encoded.contains(Array("secret".utf8)))
    }

    @Test func truncatedOrCorruptRecordIsRejected() {
        let whole = Self.record.encoded
        for count in 0..<whole.count { #expect(UploadRecord(encoded: whole.prefix(count)) == nil) }
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0x10
            #expect(UploadRecord(encoded: changed) == nil, "byte \(index)")
        }
    }

    @Test func writtenRecordSurvivesProcessDeathAndPowerLoss() throws {
        for powerIsLost in [false, true] {
            for operation in 1...7 {
                let disk = MemoryDirectory()
                let ledger = UploadLedger(files: disk)
                let id = UploadID()
                disk.cut(.death(at: operation))
                let isWritten = (try? ledger.write(id, Self.record)) != nil
                disk.revive(afterPowerLoss: powerIsLost)
                let known = try ledger.open(now: 2_000)
                #expect(!isWritten || known[id] != nil)
                #expect(disk.names.allSatisfy { !$0.hasPrefix("tmp-") })
            }
        }
    }

    /// The system sends the file as it finds it.
    @Test func bodyOfWrittenRecordSurvivesPowerLoss() throws {
        let disk = MemoryDirectory()
        let ledger = UploadLedger(files: disk)
        let id = UploadID()
        let request = try HTTPRequest(method: .put, host: "a.test", body: DataBody(Data("body".utf8))).encoded()
        let content = try ledger.writeBody(id, of: request, key: "key")
        try ledger.write(id, UploadRecord(content: content, written: 1_000))
        disk.kill()
        disk.revive(afterPowerLoss: true)
        #expect(try ledger.open(now: 2_000).keys.contains(id))
        #expect(disk.bytes(of: UploadLedger.body(id)) == Data("body".utf8))
    }

    /// A record may hold any time.
    @Test func recordOfAnyTimeIsRead() throws {
        for time in [Int64.min, -1, .max] {
            let disk = MemoryDirectory()
            let ledger = UploadLedger(files: disk)
            let record = UploadRecord(content: Self.record.content, written: time, answer: Self.record.answer)
            try ledger.write(UploadID(), record)
            #expect(try ledger.open(now: 2_000).count == (time == .min ? 0 : 1))
        }
    }

    @Test func openRemovesStaleFilesAndKeepsForeignFiles() throws {
        let disk = MemoryDirectory()
        let ledger = UploadLedger(files: disk)
        let (running, answered, bare, old, torn) = (UploadID(), UploadID(), UploadID(), UploadID(), UploadID())
        var record = Self.record
        try ledger.write(answered, record)
        record.answer = nil
        try ledger.write(running, record)
        record = UploadRecord(content: record.content, written: -40 * 24 * 3600 * 1000, answer: Self.record.answer)
        try ledger.write(old, record)
        for id in [running, answered, bare] { disk.put(Data([1]), at: UploadLedger.body(id)) }
        disk.put(Data("torn".utf8), at: torn.text + ".upload")
        disk.put(Data("foreign".utf8), at: "notes.body")
        disk.put(Data(), at: "tmp-" + bare.text)
        #expect(try Set(ledger.open(now: 2_000).keys) == [running, answered])
        #expect(
            disk.names
                == [
                    UploadLedger.body(running), running.text + ".upload", answered.text + ".upload", "notes.body",
                ].sorted())
    }

    @Test func uploadIDParsesOnlyItsOwnNames() {
        let id = UploadID()
        #expect(UploadID(id.text) == id)
        for text in ["", "upload", "upload-../x", "upload-A", "com.example.other"] { #expect(UploadID(text) == nil) }
    }

    @Test func contentDiffersByMethodAddressOrBytes() throws {
        let disk = MemoryDirectory()
        let ledger = UploadLedger(files: disk)
        func content(_ request: HTTPRequest) throws -> UploadRecord.Content {
            try ledger.writeBody(UploadID(), of: request.encoded(), key: "k")
        }
        var request = HTTPRequest(method: .post, host: "a.example", body: DataBody(Data([1])))
        let first = try content(request)
        request.headers["Authorization"] = "Bearer 1"
        #expect(try content(request) == first)
        request.method = .put
        let second = try content(request)
        request.path = "/b"
        let third = try content(request)
        request.body = DataBody(Data([2]))
        #expect(try Set([first, second, third, content(request)]).count == 4)
    }
}
