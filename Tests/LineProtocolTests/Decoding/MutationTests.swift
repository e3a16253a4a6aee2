import LineProtocol
import LoaderChain
import TestSizes
import Testing

/// Mutated lines: nothing traps, and decoded points can be encoded and decoded again.
///
/// `LINE_MUTATION_SECONDS` sets the duration.
@Suite(.timeLimit(.minutes(10))) struct MutationTests {
    static let seconds = testSize("LINE_MUTATION_SECONDS", usually: 1)

    @Test func mutatedLinesDoNotTrap() {
        let seed: UInt64 = 41
        var generator = SeededGenerator(seed: seed)
        let corpus = (SyntaxTable.taken.map(\.line) + SyntaxTable.refused.map(\.line)).filter { $0.utf8.count < 1_000 }
            .map { Array($0.utf8) }
        // A fixed number of rounds, or a duration if one is set.
        let rounds = Self.seconds > 1 ? Int.max : 20_000
        let end = ContinuousClock.now + .seconds(Self.seconds)
        var points = 0
        var round = 0
        while round < rounds {
            round += 1
            if rounds == Int.max, round % 1_000 == 0, ContinuousClock.now > end { break }
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                text += corpus[Int.random(in: corpus.indices, using: &generator)] + [UInt8(ascii: "\n")]
            }
            for _ in 0..<Int.random(in: 0...4, using: &generator) { damage(&text, &generator) }
            points += check(text, piece: Int.random(in: 1...40, using: &generator), "seed \(seed), round \(round)")
        }
        #expect(points > round / 20)
    }

    /// Decodes a text as a whole and in pieces, encodes and decodes its points again, and returns their number.
    private func check(_ text: [UInt8], piece: Int, _ note: Comment) -> Int {
        let whole = results(text, limit: 200)
        var decoder = LineDecoder(maximumLineLength: 200)
        var inPieces: [Result<Point, LineDecodingError>] = []
        for start in stride(from: 0, to: text.count, by: piece) {
            decoder.decode(text[start..<min(start + piece, text.count)]) { inPieces.append($0) }
        }
        decoder.finish { inPieces.append($0) }
        if !same(whole, inPieces) {
            Issue.record("\(note.rawValue): pieces of \(piece) give \(inPieces), not \(whole)")
        }

        var points = 0
        var naive = NaiveRepair(.influxDB2)
        for case .success(let point) in whole {
            points += 1
            var encoder = LineEncoder(dialect: .influxDB2, capacity: 256)
            encoder.append(point)
            guard let expected = naive.repaired(point), let again = try? decoded(encoder.bytes), again.count == 1,
                again[0].isIdentical(to: expected)
            else {
                Issue.record("\(note.rawValue): \(encoder.text) from \(text)")
                continue
            }
        }
        return points
    }

    private func same(
        _ first: [Result<Point, LineDecodingError>], _ second: [Result<Point, LineDecodingError>]
    ) -> Bool {
        first.elementsEqual(second) { one, other in
            switch (one, other) {
            case (.success(let one), .success(let other)): one.isIdentical(to: other)
            case (.failure(let one), .failure(let other)): one == other
            default: false
            }
        }
    }

    private static let marks = Array(",= \\\"#\n\r\t\0i u.eE+-0123456789tf_".utf8)

    private func damage(_ text: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !text.isEmpty else { return }
        let place = Int.random(in: text.indices, using: &generator)
        let mark = Self.marks[Int.random(in: Self.marks.indices, using: &generator)]
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: text[place] = mark
        case 1: text.insert(mark, at: place)
        case 2: text.remove(at: place)
        case 3: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 4: text.removeLast(text.count - place)
        case 5:
            let end = Int.random(in: place..<text.count, using: &generator)
            text.insert(
                contentsOf: Array(text[place...end].prefix(30)), at: Int.random(in: 0...text.count, using: &generator))
        default: text[place] = UInt8.random(in: 0...UInt8.max, using: &generator)
        }
    }
}
