import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10))) struct RecordNameTests {
    static let awkward = [
        "a", "..", ".", "/", "../../etc/passwd", "a/b", "C:\\x", "con", "-", "--", "~", "%", "%00", "nul\0byte",
        "new\nline",
        "tab\t", " ", "é", "e\u{301}", "日本語", "👩‍👩‍👧", "\u{202E}rtl", "a.report", "!", "a!b", "lock", "tmp-1",
        String(repeating: "x", count: 1_000), String(repeating: "👾", count: 250), String(repeating: "/", count: 119),
    ]

    private static func name(_ id: ReportID) -> RecordName {
        RecordName(
            sequence: 7, submittedMilliseconds: 1_704_067_200_000, dueMilliseconds: 0, attempts: 3, destination: 0xAB,
            size: 400, flags: [.pausesDestination], kind: ReportKind("sixteen_bytes_16"), id: id)
    }

    @Test(arguments: awkward)
    func everyIdentifierMakesSafeFileName(_ text: String) throws {
        let id = try #require(ReportID(text))
        let name = Self.name(id)
        let file = DeadLetterName(name, because: .failed(HTTPError.Code("a/b!c"))).text
        #expect(file.utf8.count <= 255)
        #expect(!file.contains("/") && !file.contains("\0") && file.utf8.allSatisfy { 0x21..<0x7F ~= $0 })
        switch RecordName.read(name.text) {
        case .name(let read): #expect(read == name)
        case .digested(let read):
            #expect(text.utf8.count > 30)
            #expect(read.sequence == 7 && read.size == 400)
        case .foreign: Issue.record("\(name.text) is not recognized")
        }
        try HTTPHeaders([HTTPHeaders.Field("Idempotency-Key", id.idempotencyKey)]).validate()
    }

    @Test func emptyOrTooLongIdentifierIsInvalid() {
        #expect(ReportID("") == nil)
        #expect(ReportID(String(repeating: "x", count: 1_001)) == nil)
    }

    @Test func differentIdentifiersHaveDifferentNames() {
        let names = Set(Self.awkward.compactMap { ReportID($0)?.idempotencyKey })
        // Two of them are the same text, composed and decomposed, and keep their own spelling.
        #expect(names.count == Self.awkward.count)
    }

    @Test func malformedNameIsForeign() throws {
        let good = Self.name(try #require(ReportID("id"))).text
        var foreign = [
            "", ".", "lock", ".report", "-------.report", "x.report", good + "x", String(good.dropFirst()) + ".",
        ]
        foreign += [
            "ffffffffffffffff-0-0-0-00000000-0-0-id.report", "0000000000000001-0-0-100000000-00000000-0-0-id.report",
            "0000000000000001-0-0-0-00000000-ffffffffffffffff-0-id.report",
            "0000000000000001-0-0-0-00000000-0-z-id.report", "0000000000000001-0-0-0-00000000-0-0-.report",
            "0000000000000001-0-0-0-00000000-0-0-%zz.report", "0000000000000001-0-0-0-00000000-0-0-%ff.report",
            "0000000000000001-0-0-0-00000000-0-0-%2F.report", "0000000000000001-0-0-0-00000000-0-0-%61.report",
            "0000000000000001-0-0-0-00000000-0-0-a%2.report", "0000000000000001-0-0-0-00000000-0-0-é.report",
            "0000000000000001-ffffffffffffffff-0-0-00000000-0-0-id.report",
        ]
        for text in foreign {
            guard case .foreign = RecordName.read(text) else {
                Issue.record("“\(text)” is taken for a report")
                continue
            }
        }
    }

    @Test func nameWithFlippedBitIsParsedWithoutTrap() throws {
        let good = Array(Self.name(try #require(ReportID("id-1"))).text.utf8)
        for index in good.indices {
            for bit in 0..<8 {
                var bad = good
                bad[index] ^= 1 << bit
                // Parsing either succeeds or fails, and never traps.
                _ = RecordName.read(String(decoding: bad, as: UTF8.self))
                _ = DeadLetterName.read(String(decoding: bad, as: UTF8.self) + "!damaged")
            }
        }
    }

    @Test func datesOutOfRangeAreClamped() {
        for date in [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan),
        ] {
            let milliseconds = RecordName.milliseconds(date)
            #expect(0...(1 << 53) ~= milliseconds)
        }
    }
}
