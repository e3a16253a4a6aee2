import Foundation
import LineProtocol
import LoaderChain
import TestSizes
import Testing

@testable import APIHealthKit
@testable import MetricKitReporting

/// Payloads with every kind of damage: nothing traps, and every number in the result is in the payload.
///
/// `METRICKIT_MUTATIONS` sets the number of rounds.
@Suite(.timeLimit(.minutes(60)))
struct MutationTests {
    private static let rounds = testSize("METRICKIT_MUTATIONS", usually: 1_500)
    private static let seed: UInt64 = 2026

    private static let fixtures: [[UInt8]] = [
        Metrics.ios13, Metrics.ios14Chinese, Metrics.ios14Russian, Metrics.ios14Arabic, Metrics.ios16, Metrics.ios26,
        Metrics.ios27, Metrics.ios27Sections, Diagnostics.ios14, Diagnostics.ios16, Diagnostics.ios26,
        Diagnostics.ios27,
    ].map { Array($0.utf8) }

    @Test func mutationsDoNotTrapOrInventNumbers() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let trees = try Self.fixtures.map { JSONTree(try JSONDocument($0).root) }
        var counts = (metrics: 0, diagnostics: 0, unreadable: 0, numbers: 0)
        for round in 0..<Self.rounds {
            var tree = trees[Int.random(in: trees.indices, using: &generator)]
            for _ in 0..<Int.random(in: 1...8, using: &generator) { tree = Mutation.mutated(tree, trees, &generator) }
            var text = Array(tree.text.utf8)
            if Int.random(in: 0..<4, using: &generator) == 0 { Mutation.damageBytes(&text, &generator) }
            let report = MetricKitReport(Data(text))
            // The printed form and the points are created as well.
            let lines = PayloadView.lines(report)
            switch report {
            case .metrics(let payload):
                counts.metrics += 1
                for point in payload.points(secondsFromGMT: 0) {
                    for case .double(let number) in point.fields.map(\.value) where !number.isFinite {
                        Issue.record("seed \(Self.seed), round \(round): \(number)")
                    }
                }
                _ = [payload].attributes(applicationVersion: payload.appVersion ?? "")
            case .diagnostics: counts.diagnostics += 1
            case .unreadable(let kept, _):
                counts.unreadable += 1
                #expect(kept == Data(text))
                continue
            }
            #expect(!lines.isEmpty)
            let given = GivenNumbers(try JSONDocument(text).root)
            for number in ReadNumbers(report).all {
                counts.numbers += 1
                if !given.contains(number) {
                    Issue.record(
                        "seed \(Self.seed), round \(round): \(number) is invented in \(String(decoding: text, as: UTF8.self))"
                    )
                    return
                }
            }
        }
        #expect(
            counts.metrics > Self.rounds / 4 && counts.diagnostics > Self.rounds / 8
                && counts.unreadable > Self.rounds / 20)
        #expect(counts.numbers > Self.rounds * 20)
    }

    /// Every encoding: nothing traps, and an undamaged payload gives the same result as in UTF-8.
    @Test func everyEncodingGivesSameResult() throws {
        var generator = SeededGenerator(seed: Self.seed)
        let trees = try Self.fixtures.map { JSONTree(try JSONDocument($0).root) }
        var read = 0
        for round in 0..<Self.rounds / 5 {
            let tree = trees[Int.random(in: trees.indices, using: &generator)]
            let text = Mutation.mutated(tree, trees, &generator).text
            let encoding = EncodingTests.Encoding.allCases[round % 4]
            var bytes = encoding.bytes(text)
            let plain = Result { try DiagnosticPayload(text) }
            do {
                let payload = try DiagnosticPayload(Data(bytes))
                let expected = try plain.get()
                read += 1
                let isSame =
                    payload.diagnostics == expected.diagnostics && payload.timeRange == expected.timeRange
                    && payload.leftovers == expected.leftovers
                if !isSame { Issue.record("seed \(Self.seed), round \(round): \(encoding) gives something else") }
            } catch {
                guard case .failure(let other) = plain, other as? PayloadError == error as? PayloadError else {
                    Issue.record("seed \(Self.seed), round \(round): \(error) in \(encoding), and \(plain)")
                    continue
                }
            }
            Mutation.damageBytes(&bytes, &generator)
            _ = MetricKitReport(Data(bytes))
            _ = try? DiagnosticPayload(Data(bytes))
        }
        #expect(read > Self.rounds / 40)
    }

    /// A truncated payload is not read in part, and not lost.
    @Test func truncatedPayloadIsUnreadable() {
        for fixture in Self.fixtures {
            for end in stride(from: 0, to: fixture.count - 1, by: 37) {
                let data = Data(fixture[..<end])
                guard case .unreadable(let kept, _) = MetricKitReport(data), kept == data else {
                    Issue.record("\(end) bytes of \(String(decoding: fixture.prefix(100), as: UTF8.self)) are read")
                    return
                }
            }
        }
    }
}
