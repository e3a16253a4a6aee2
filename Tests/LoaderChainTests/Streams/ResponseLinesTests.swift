import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResponseLinesTests {
    @Test(arguments: [
        ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n", ["a"]), ("a\r\r\n", ["a\r"]),
        ("a\rb\n", ["a\rb"]),
        ("\r", [""]), ("a\n\n\nb", ["a", "", "", "b"]),
        ("a\u{B}\u{C}b\u{85}c\u{2028}d\n", ["a\u{B}\u{C}b\u{85}c\u{2028}d"]),
        ("ä\nö€\n🙂", ["ä", "ö€", "🙂"]), ("\u{FEFF}a\n", ["\u{FEFF}a"]),
    ])
    func linesDoNotDependOnHowBytesAreCut(_ text: String, _ lines: [String]) async throws {
        for pieces in Deliveries.halves(Array(text.utf8)) {
            #expect(
                try await Deliveries.response(pieces).lines().collected().map { Array($0.utf8) }
                    == lines.map { Array($0.utf8) })
        }
    }

    @Test func randomBytesAgreeWithNaiveSplitting() async throws {
        for seed in testSample(0..<2_000) {
            var generator = SeededGenerator(seed: UInt64(seed))
            let alphabet: [UInt8] = [10, 10, 13, 13, 97, 98, 0xC3, 0xA4, 0xFF, 0]
            let bytes = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator)!
            }
            var naive = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
            if naive.last == [] { naive.removeLast() }
            let expected = naive.map { String(decoding: $0.last == 13 ? $0.dropLast() : $0, as: UTF8.self) }
            let pieces = Deliveries.pieces(bytes, using: &generator)
            let lines = try await Deliveries.response(pieces).lines().collected()
            #expect(lines == expected, "seed \(seed)")
        }
    }

    @Test func lineOverLimitFailsWithOrWithoutLineEnd() async throws {
        for bytes in [Array("1234\r\n12345\n".utf8), Array("1234\n12345".utf8), Array("1234\n123456789".utf8)] {
            for pieces in Deliveries.halves(bytes) {
                var lines = Deliveries.response(pieces).lines(upTo: 4).makeAsyncIterator()
                #expect(try await lines.next() == "1234")
                let error = await #expect(throws: HTTPError.self) { try await lines.next() }
                #expect(error?.code == .responseTooLarge)
                #expect(error?.reason?.contains("limit of 4") == true)
                #expect(try await lines.next() == nil)
            }
        }
    }

    @Test func extremeLimitsDoNotOverflow() async throws {
        for pieces in Deliveries.halves(Array("data:a\r\n\r\n".utf8)) {
            #expect(try await Deliveries.response(pieces).lines(upTo: .max).collected() == ["data:a", ""])
            #expect(try await Deliveries.response(pieces).serverSentEvents(upTo: .max).collected().count == 1)
            await #expect(throws: HTTPError.self) {
                try await Deliveries.response(pieces).lines(upTo: .min).collected()
            }
        }
    }

    @Test func linesBeforeTransferErrorAreRead() async throws {
        let lost = HTTPError(.connectionLost, request: .sample)
        var lines = Deliveries.response([Array("a\nb".utf8)], error: lost).lines().makeAsyncIterator()
        #expect(try await lines.next() == "a")
        #expect(await #expect(throws: HTTPError.self) { try await lines.next() }?.code == .connectionLost)
    }

    /// The reader of lines gets what the chunks throw: one error after a cancel of its Swift task, another after a reset.
    @Test func cancelOfReaderAndResetAreToldApart() async throws {
        let chunks = [Array("a\nb".utf8)]
        var cancelled = Deliveries.response(chunks, error: CancellationError()).lines().makeAsyncIterator()
        #expect(try await cancelled.next() == "a")
        await #expect(throws: CancellationError.self) { try await cancelled.next() }
        #expect(try await cancelled.next() == nil)
        let reset = HTTPError(.cancelled, request: .sample)
        var ended = Deliveries.response(chunks, error: reset).lines().makeAsyncIterator()
        #expect(try await ended.next() == "a")
        #expect(await #expect(throws: HTTPError.self) { try await ended.next() }?.code == .cancelled)
    }

    @Test func bodyInMemoryAndInFileHasLines() async throws {
        let body = Data("a\nb\n".utf8)
        let response = HTTPResponse(request: .sample, status: .ok, body: body)
        #expect(try await response.lines().collected() == ["a", "b"])

        let file = URL(filePath: NSTemporaryDirectory()).appending(path: "lines-\(UUID().uuidString)")
        try body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var stored = HTTPResponse(request: .sample, status: .ok)
        stored.file = file
        #expect(try await stored.lines().collected() == ["a", "b"])
        stored.file = file.appending(path: "missing")
        await #expect(throws: HTTPBodyError.self) { try await stored.lines().collected() }
    }

    @Test func longLineIsReadInLinearTime() async throws {
        // A reader that looked at old bytes again would look at 10¹² here.
        let pieces = Array(repeating: Array(repeating: UInt8(ascii: "x"), count: 100), count: 20_000)
        let lines = try await Deliveries.response(pieces).lines(upTo: 2_000_000).collected()
        #expect(lines.map(\.utf8.count) == [2_000_000])
    }
}

@Suite(.timeLimit(.minutes(10))) struct ResponseValuesTests {
    private struct Tick: Decodable, Equatable, Sendable { var price: Int }

    @Test func eachLineIsDecodedAndBlankLinesAreSkipped() async throws {
        let text = "{\"price\": 1}\r\n\n \t\n{\"price\":2}\n{\"price\":3}"
        for pieces in Deliveries.halves(Array(text.utf8)) {
            let ticks = try await Deliveries.response(pieces).values(as: Tick.self).collected()
            #expect(ticks.map(\.price) == [1, 2, 3])
        }
    }

    @Test func invalidLineIsNamedAndNextLineIsDecoded() async throws {
        let text = "{\"price\":1}\n\n{\"secret\":1}\n{\"price\":2}\n"
        var ticks = Deliveries.response([Array(text.utf8)]).values(as: Tick.self).makeAsyncIterator()
        #expect(try await ticks.next() == Tick(price: 1))
        let error = await #expect(throws: HTTPError.self) { try await ticks.next() }
        #expect(error?.code == .cannotDecodeResponse)
        #expect(error?.reason == "Line 3 of the body, of 12 bytes, cannot be decoded as Tick: price is missing")
        #expect(error?.description.contains("secret") == false)
        #expect(try await ticks.next() == Tick(price: 2))
        #expect(try await ticks.next() == nil)
    }
}
