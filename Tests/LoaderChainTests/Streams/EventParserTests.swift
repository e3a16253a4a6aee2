import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct EventParserTests {
    /// A stream, what it says, and which rule it shows.
    struct Sample: Sendable, CustomTestStringConvertible {
        let rule: String
        let text: String
        var events: [ServerSentEvent] = []
        var lastID = ""
        var time: Duration?

        var testDescription: String { rule }
    }

    static let samples = [
        Sample(rule: "nothing", text: ""),
        Sample(rule: "an event", text: "data: a\n\n", events: [.init(data: "a")]),
        Sample(rule: "all line ends", text: "data:a\rdata:b\r\ndata:c\n\r\n", events: [.init(data: "a\nb\nc")]),
        Sample(
            rule: "CR CR is an empty line", text: "data:a\r\rdata:b\n\n", events: [.init(data: "a"), .init(data: "b")]),
        Sample(
            rule: "CR LF CR LF is one empty line", text: "data:a\r\n\r\n\ndata:b\r\n\r\n",
            events: [.init(data: "a"), .init(data: "b")]),
        Sample(rule: "LF CR is two ends", text: "data:a\n\rdata:b\r\r", events: [.init(data: "a"), .init(data: "b")]),
        Sample(
            rule: "one mark at the start", text: "\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n",
            events: [.init(data: "1"), .init(data: "3")]),
        Sample(rule: "only one mark", text: "\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\n", events: [.init(data: "2")]),
        Sample(rule: "comments", text: ": hello\ndata:1\n:\r:data:no\ndata:2\n\n:\n\n", events: [.init(data: "1\n2")]),
        Sample(
            rule: "one space is removed", text: "data:  a \n\ndata:\tb\n\n",
            events: [.init(data: " a "), .init(data: "\tb")]),
        Sample(
            rule: "data without a value", text: "data:\n\ndata\ndata\n\ndata:x\n\n",
            events: [.init(data: ""), .init(data: "\n"), .init(data: "x")]),
        Sample(
            rule: "names are exact", text: "Data:1\n data:2\ndata :3\ndatas:4\ndat:5\ndata:6\n\n",
            events: [.init(data: "6")]),
        Sample(rule: "a null in data stays", text: "data:a\0b\n\n", events: [.init(data: "a\0b")]),
        Sample(rule: "a null in a name", text: "data\0:1\n\n"),
        Sample(rule: "no end, no event", text: "data:1\n\nid:7\ndata:2\n", events: [.init(data: "1")]),
        Sample(rule: "no end at all", text: "retry:5\ndata:2", time: .milliseconds(5)),
        Sample(
            rule: "types", text: "event:a\ndata:1\n\ndata:2\n\nevent: \ndata:3\n\nevent:x\nevent:y\ndata:4\n\n",
            events: [.init(type: "a", data: "1"), .init(data: "2"), .init(data: "3"), .init(type: "y", data: "4")]),
        Sample(rule: "a type alone is not an event", text: "event:a\n\ndata:1\n\n", events: [.init(data: "1")]),
        Sample(
            rule: "an identifier stays", text: "id:1\ndata:a\n\ndata:b\n\nid\ndata:c\n\n",
            events: [.init(data: "a", id: "1"), .init(data: "b", id: "1"), .init(data: "c")]),
        Sample(rule: "an identifier alone counts", text: "id: 9\n\n", lastID: "9"),
        Sample(
            rule: "an identifier with a null does not", text: "id:1\n\nid:2\0\nid:\0\ndata:a\n\n",
            events: [.init(data: "a", id: "1")], lastID: "1"),
        Sample(
            rule: "an identifier may be any text", text: "id: ä€🙂\ndata:a\n\n", events: [.init(data: "a", id: "ä€🙂")],
            lastID: "ä€🙂"),
        Sample(rule: "a time applies at once", text: "retry: 1500\n", time: .milliseconds(1_500)),
        Sample(rule: "zero is a time", text: "retry:5\nretry:0\n", time: .zero),
        Sample(
            rule: "times are digits alone",
            text: "retry:7\nretry:+5\nretry:-5\nretry:5 \nretry:0x5\nretry:\nretry\nretry:1.5\nretry:٣\n",
            time: .milliseconds(7)),
        Sample(rule: "leading zeros", text: "retry:007\n", time: .milliseconds(7)),
        Sample(
            rule: "a time beyond all numbers", text: "retry:99999999999999999999999999999999\n",
            time: .milliseconds(1 << 40)),
    ]

    @Test(arguments: samples)
    func sampleIsParsedTheSameHoweverItIsCut(_ sample: Sample) throws {
        for pieces in Deliveries.halves(Array(sample.text.utf8)) {
            let read = try Self.read(pieces)
            #expect(read.events == sample.events)
            #expect(read.parser.lastID == (sample.lastID.isEmpty ? sample.events.last?.id ?? "" : sample.lastID))
            #expect(read.parser.reconnectionTime == sample.time)
        }
        let bytes = try Self.read(sample.text.utf8.map { [$0] })
        #expect(bytes.events == sample.events)
    }

    @Test func eventIsReadyAtFinalCarriageReturn() throws {
        var parser = EventParser(limit: 100)
        parser.append(Data("data:1\r\r".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "1"))
        parser.append(Data("\ndata:2\r\n\r".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "2"))
        parser.append(Data("\n".utf8))
        #expect(try parser.next() == nil)
    }

    @Test func invalidUTF8IsReplacedWithoutOtherLoss() throws {
        let bytes = Array("data:".utf8) + [0xE2, 0x82] + Array("\ndata:".utf8) + [0xFF, 0x61] + Array("\n\n".utf8)
        for pieces in Deliveries.halves(bytes) {
            #expect(try Self.read(pieces).events == [ServerSentEvent(data: "\u{FFFD}\n\u{FFFD}a")])
        }
    }

    @Test func randomStreamsAgreeWithNaiveParser() throws {
        let words = [
            "data", "data:", "event:", "id:", "retry:", "d", ":", " ", "1", "0", "\0", "\n", "\n", "\r", "\r\n",
            "\u{FEFF}", "ä",
        ]
        for seed in testSample(0..<testSize("EVENT_STREAMS", usually: 10_000)) {
            var generator = SeededGenerator(seed: UInt64(seed))
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...60, using: &generator) {
                bytes += words.randomElement(using: &generator)!.utf8
                if Int.random(in: 0..<40, using: &generator) == 0 {
                    bytes.append(UInt8.random(in: 128...255, using: &generator))
                }
            }
            let expected = NaiveEventParser.read(bytes)
            let read = try Self.read(Deliveries.pieces(bytes, using: &generator))
            let isEqual =
                read.events == expected.events && read.parser.lastID == expected.lastID
                && read.parser.reconnectionTime == expected.time
            #expect(isEqual, "seed \(seed): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            if !isEqual { return }
        }
    }

    @Test func longEventsAreParsedInLinearTime() throws {
        // A parser that looked at old bytes again would look at 10¹¹ here, and not be done within the test's time.
        let line = Array("data:".utf8) + Array(repeating: UInt8(ascii: "x"), count: 1_500_000) + [10, 10]
        let slices = stride(from: 0, to: line.count, by: 10).map { Array(line[$0..<min($0 + 10, line.count)]) }
        #expect(try Self.read(slices, limit: 2_000_000).events.map(\.data.utf8.count) == [1_500_000])
        let lines = Array(repeating: Array("data:0123456789\n".utf8), count: 50_000) + [[10]]
        #expect(try Self.read(lines, limit: 2_000_000).events.map(\.data.utf8.count) == [549_999])
    }

    @Test func linesAndDataAreLimited() throws {
        #expect(throws: LineBuffer.LineTooLong.self) { try Self.read([Array("data:123456\n\n".utf8)], limit: 10) }
        #expect(throws: LineBuffer.LineTooLong.self) { try Self.read([Array(":23456789012".utf8)], limit: 10) }
        let many = Array(repeating: Array("data:12345\n".utf8), count: 3)
        #expect(throws: LineBuffer.LineTooLong.self) { try Self.read(many, limit: 11) }
        #expect(try Self.read([Array("data:12345\n\n".utf8)], limit: 10).events.count == 1)
    }

    static func read(_ pieces: [[UInt8]], limit: Int = 1_000) throws -> (events: [ServerSentEvent], parser: EventParser)
    {
        var parser = EventParser(limit: limit)
        var events: [ServerSentEvent] = []
        for piece in pieces {
            parser.append(Data(piece))
            while let event = try parser.next() { events.append(event) }
        }
        return (events, parser)
    }
}

/// The rules of the standard for a stream that is there as a whole, one after the other.
enum NaiveEventParser {
    static func read(_ bytes: [UInt8]) -> (events: [ServerSentEvent], lastID: String, time: Duration?) {
        var text = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { $0 }
        if text.first == "\u{FEFF}" { text.removeFirst() }
        var lines: [String] = []
        var line = String.UnicodeScalarView()
        var index = 0
        while index < text.count {
            if text[index] == "\r" || text[index] == "\n" {
                if text[index] == "\r", index + 1 < text.count, text[index + 1] == "\n" { index += 1 }
                lines.append(String(line))
                line = String.UnicodeScalarView()
            } else {
                line.append(text[index])
            }
            index += 1
        }

        var events: [ServerSentEvent] = []
        var (data, type, id, lastID, time) = ([String](), "", "", "", Duration?.none)
        for line in lines {
            if line.isEmpty {
                lastID = id
                if !data.isEmpty {
                    let name = type.isEmpty ? "message" : type
                    events.append(ServerSentEvent(type: name, data: data.joined(separator: "\n"), id: id))
                }
                data = []
                type = ""
                continue
            }
            let scalars = line.unicodeScalars
            let colon = scalars.firstIndex(of: ":") ?? scalars.endIndex
            var value = scalars[colon...].dropFirst()
            if value.first == " " { value = value.dropFirst() }
            switch Array(scalars[..<colon]) {
            case Array("data".unicodeScalars): data.append(String(value))
            case Array("event".unicodeScalars): type = String(value)
            case Array("id".unicodeScalars): if !value.contains("\0") { id = String(value) }
            case Array("retry".unicodeScalars):
                if !value.isEmpty, value.allSatisfy({ ("0"..."9").contains($0) }) {
                    time = .milliseconds(min(0x1p40, Double(String(value))!))
                }
            default: break
            }
        }
        return (events, lastID, time)
    }
}
