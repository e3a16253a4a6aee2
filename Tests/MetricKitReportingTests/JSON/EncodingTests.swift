import Foundation
import LoaderChain
import TestSizes
import Testing

@testable import MetricKitReporting

/// Payloads in UTF-16 and UTF-32.
@Suite(.timeLimit(.minutes(10)))
struct EncodingTests {
    enum Encoding: CaseIterable {
        case utf16BigEndian, utf16LittleEndian, utf32BigEndian, utf32LittleEndian

        /// The text with a byte order mark.
        func bytes(_ text: String) -> [UInt8] {
            switch self {
            case .utf16BigEndian: bytes(of: [0xFEFF] + Array(text.utf16))
            case .utf16LittleEndian: bytes(of: [0xFEFF] + Array(text.utf16)).swapped(by: 2)
            case .utf32BigEndian: bytes(of: [0xFEFF] + text.unicodeScalars.map(\.value))
            case .utf32LittleEndian: bytes(of: [0xFEFF] + text.unicodeScalars.map(\.value)).swapped(by: 4)
            }
        }

        func bytes<Unit: FixedWidthInteger>(of units: [Unit]) -> [UInt8] {
            units.flatMap { unit in withUnsafeBytes(of: unit.bigEndian) { Array($0) } }
        }
    }

    @Test(arguments: Encoding.allCases)
    func encodingWithByteOrderMarkIsRead(_ encoding: Encoding) throws {
        let text = #"{"appVersion":"ä€😀","cpuMetrics":{"cumulativeCPUTime":"1,530毫秒"}}"#
        let data = Data(encoding.bytes(text))
        let payload = try MetricPayload(data)
        #expect(payload.appVersion == "ä€😀" && payload.cpu?.time == .milliseconds(1_530))
        #expect(payload.data == data)
        #expect(try MetricPayload(Data(encoding.bytes(Metrics.ios14Russian))).leftovers.isEmpty)
        #expect(try DiagnosticPayload(Data(encoding.bytes(Diagnostics.ios16))).diagnostics.count == 5)
    }

    @Test(arguments: Encoding.allCases)
    func truncatedTextIsRejected(_ encoding: Encoding) {
        let bytes = encoding.bytes(#"{"appVersion":"😀"}"#)
        for end in 0..<bytes.count {
            guard case .unreadable(let kept, let error) = MetricKitReport(Data(bytes[..<end])) else {
                Issue.record("\(end) bytes of \(bytes.count) are read")
                continue
            }
            #expect(kept.count == end && error.code == .notJSON)
            #expect(throws: PayloadError.self) { try DiagnosticPayload(Data(bytes[..<end])) }
        }
    }

    @Test func invalidTextIsRejected() {
        let quote: UInt8 = 0x22
        for (bytes, reason) in [
            // Half surrogate pairs: the first alone, the second alone, the wrong way round, at the end.
            ([0xFE, 0xFF, 0, quote, 0xD8, 0x3D, 0, quote], JSONProblem.Reason.encoding),
            ([0xFE, 0xFF, 0, quote, 0xDE, 0, 0, quote], .encoding),
            ([0xFF, 0xFE, quote, 0, 0, 0xDE, 0x3D, 0xD8, quote, 0], .encoding),
            ([0xFE, 0xFF, 0, quote, 0xD8, 0x3D], .encoding), ([0xFE, 0xFF, 0, 0x31, 0xD8, 0x3D], .encoding),
            ([0xFE, 0xFF, 0, 0x31, 0], .encoding), ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x31, 0, 0, 0], .encoding),
            // Beyond Unicode, and a surrogate where none is allowed.
            ([0, 0, 0xFE, 0xFF, 0, 0x11, 0, 0], .encoding), ([0, 0, 0xFE, 0xFF, 0, 0, 0xD8, 0], .encoding),
            // Odd lengths, and marks alone.
            ([0xFE, 0xFF, 0], .encoding), ([0xFF, 0xFE, 0], .encoding), ([0, 0, 0xFE, 0xFF, 0, 0], .encoding),
            ([0xFE, 0xFF], .unfinished), ([0xFF, 0xFE], .unfinished), ([0xFF, 0xFE, 0, 0], .unfinished),
            ([0xFE], .unexpected), ([0, 0, 0], .unexpected), ([0, 0, 0xFE, 0xFE, 0], .unexpected),
        ] as [([UInt8], JSONProblem.Reason)] {
            let problem = #expect(throws: JSONProblem.self) { try JSONDocument(bytes) }
            let isSame = problem?.reason == reason || (reason == .unexpected && problem?.reason == .number)
            #expect(isSame, "\(bytes): \(String(describing: problem))")
        }
    }

    /// Foundation accepts and rejects the same bytes as text.
    @Test func textDecodingAgreesWithFoundation() {
        let seed: UInt64 = 16
        var generator = SeededGenerator(seed: seed)
        var valid = 0
        let rounds = testSize("METRICKIT_JSON_ROUNDS", usually: 1_500)
        for round in 0..<rounds {
            let encoding = Encoding.allCases[round % 4]
            var bytes = encoding.bytes("\"" + String("aä€😀\u{10FFFF}".shuffled(using: &generator)) + "\"")
            for _ in 0..<Int.random(in: 0...1, using: &generator) {
                let place = Int.random(in: 4..<bytes.count, using: &generator)
                bytes[place] = [0, 0x22, 0xD8, 0xDC, 0xFF, 0x10, 0x11].randomElement(using: &generator) ?? 0
            }
            let ours = try? JSONDocument(bytes).root.text
            let foundation: String? =
                switch encoding {
                case .utf16BigEndian, .utf16LittleEndian:
                    String(validating: units(bytes, 2).map { UInt16($0) }, as: UTF16.self)
                case .utf32BigEndian, .utf32LittleEndian: String(validating: units(bytes, 4), as: UTF32.self)
                }
            let theirs = foundation.flatMap {
                try? JSONSerialization.jsonObject(with: Data($0.dropFirst().utf8), options: .fragmentsAllowed)
                    as? String
            }
            if theirs != nil { valid += 1 }
            if ours != theirs { Issue.record("seed \(seed), round \(round): \(bytes) is \(ours ?? "nothing")") }
        }
        #expect(valid > rounds / 3)
    }

    /// The code units of a text, according to its byte order mark.
    private func units(_ bytes: [UInt8], _ width: Int) -> [UInt32] {
        let ordered = bytes[0] == 0xFF ? bytes.swapped(by: width) : bytes
        return stride(from: 0, to: ordered.count, by: width).map { start in
            ordered[start..<start + width].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

extension [UInt8] {
    /// The bytes of each code unit in reverse order.
    fileprivate func swapped(by width: Int) -> [UInt8] {
        stride(from: 0, to: count, by: width).flatMap { self[$0..<Swift.min($0 + width, count)].reversed() }
    }
}
