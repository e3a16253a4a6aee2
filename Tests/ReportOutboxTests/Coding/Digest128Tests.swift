import Testing

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct Digest128Tests {
    @Test func knownBytesHaveTheirKnownDigests() {
        #expect(Digest128(Data()).text == "6c62272e07bb014262b821756295c58d")
        #expect(Digest128(Data("a".utf8)).text == "d228cb696f1a8caf78912b704e4a8964")
        #expect(Digest128(Data([0])).text.count == 32)
    }

    @Test func bytesInPartsHaveTheDigestOfTheWhole() {
        var parts = Digest128()
        parts.add("pay")
        parts.add(Data("load".utf8))
        #expect(parts == Digest128(Data("payload".utf8)))
    }
}
