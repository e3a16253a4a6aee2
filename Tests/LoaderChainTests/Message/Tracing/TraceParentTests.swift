import TestProcesses
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct TraceParentTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"
    private static let valid = "00-\(trace)-\(span)-01"

    @Test(arguments: [
        valid, "00-\(trace)-\(span)-00", "00-\(trace)-\(span)-02", "00-\(trace)-\(span)-ff", " \(valid)\t",
        "01-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01-what-ever", "fe-\(trace)-\(span)-01-",
        "00-\(trace)-0000000000000001-01", "00-00000000000000000000000000000001-\(span)-01",
        "00-10000000000000000000000000000000-\(span)-01",
    ])
    func validValueIsRead(_ value: String) throws {
        let context = try #require(HTTPTraceContext(["traceparent": value]))
        let text = Array(value.utf8.drop { $0 == UInt8(ascii: " ") })
        #expect("\(context.traceID)" == String(decoding: text[3..<35], as: UTF8.self))
        #expect("\(context.spanID)" == String(decoding: text[36..<52], as: UTF8.self))
        #expect(context == Naive.context(value))
    }

    @Test(arguments: [
        "", "00", "00-", "ff-\(trace)-\(span)-01", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-what",
        "00-\(trace)-\(span)-01.", "cc-\(trace)-\(span)-01.what", "cc-\(trace)-\(span)-011", "00-\(trace)-\(span)-1",
        "00-\(trace)-\(span)-0", "00-\(trace)-\(span)", "00-\(trace)-\(span)-0G", "0-\(trace)-\(span)-01",
        "0x-\(trace)-\(span)-01", "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01", "0A-\(trace)-\(span)-01",
        "00-\(trace)-\(span)-0A", "00-\(trace)0-\(span)-01", "00-\(trace.dropLast())-\(span)-01",
        "00-\(trace)-\(span)0-01", "00-\(trace)-\(span.dropLast())-01", "\(valid),\(valid)", "00 -\(trace)-\(span)-01",
        "00-\(trace.dropLast())é-\(span)-01", "00-\(trace)-\(span)-01\u{B}",
    ])
    func invalidValueIsRejected(_ value: String) {
        #expect(HTTPTraceContext(["traceparent": value]) == nil)
        #expect(Naive.context(value) == nil)
    }

    @Test func onlyKnownFlagsAreKept() throws {
        let context = try #require(HTTPTraceContext(traceParent: "00-\(Self.trace)-\(Self.span)-ff"))
        #expect(context.flags == [.sampled, .random])
        #expect(context.traceParent == "00-\(Self.trace)-\(Self.span)-03")
    }

    @Test func laterVersionIsWrittenAsVersionZero() throws {
        let context = try #require(HTTPTraceContext(traceParent: "cc-\(Self.trace)-\(Self.span)-01-more"))
        #expect(context.traceParent == Self.valid)
    }

    @Test func repeatedHeaderIsRejected() {
        var headers: HTTPHeaders = ["traceparent": Self.valid]
        headers.append(Self.valid, for: "Traceparent")
        #expect(HTTPTraceContext(headers) == nil)
    }

    @Test func invalidStateDoesNotInvalidateParent() throws {
        let context = try #require(HTTPTraceContext(["TraceParent": Self.valid, "tracestate": "a=1,B=2"]))
        #expect("\(context.spanID)" == Self.span && context.state == HTTPTraceContext.State())
    }

    /// Half of them are still valid, or nearly so: most faults of a parser are there.
    @Test func parserAgreesWithNaiveParser() {
        let seed: UInt64 = 3
        var generator = SeededGenerator(seed: seed)
        var valid = 0
        for number in 0..<testSize("TRACE_PARENTS", usually: 10_000, atLeast: 1_000) {
            let value = Mutation.value(using: &generator)
            let context = HTTPTraceContext(traceParent: value)
            #expect(context == Naive.context(value), "seed \(seed), number \(number): \(value)")
            if context != nil { valid += 1 }
        }
        #expect(valid > 100)
    }

    #if os(Linux) || os(macOS)
        @Test(
            .enabled(
                "python3 has no opentelemetry-sdk, which pip installs: headers are compared with a naive parser alone"
            ) { await PythonScript.oracle.isThere() })
        func parserAgreesWithOpenTelemetrySDK() async throws {
            var generator = SeededGenerator(seed: 17)
            let values = (0..<testSize("TRACE_PARENTS", usually: 10_000, atLeast: 1_000)).map { _ in
                Mutation.value(using: &generator)
            }
            let read = try await PythonScript.oracle.run(["parents"], input: values.joined(separator: "\n"))
            let theirs = read.output.split(separator: "\n")
            #expect(read.status == 0 && theirs.count == values.count, "\(read.errors)")
            for (value, theirs) in zip(values, theirs) {
                let ours = HTTPTraceContext(traceParent: value)
                let fields = theirs.split(separator: " ")
                // The SDK keeps flags that have no meaning yet, which level 2 says must not be passed on.
                let flags = fields.last.flatMap { UInt8($0, radix: 16) }.map { $0 & 3 }
                #expect(
                    fields.count == 3
                        ? ours.map { "\($0.traceID) \($0.spanID)" } == fields[..<2].joined(separator: " ")
                            && ours?.flags.rawValue == flags
                        : ours == nil, "\(value): \(theirs)")
            }
            #expect(theirs.filter { $0 != "-" }.count > values.count / 100)
        }
    #endif

    @Test func writtenContextRoundTrips() throws {
        let random = RandomSource(seed: 9)
        for _ in 0..<200 {
            let context = HTTPTraceContext(isSampled: random.chance(0.5), random: random)
            #expect(context.traceParent.utf8.count == 55)
            #expect(HTTPTraceContext(traceParent: context.traceParent) == context)
        }
    }

    @Test func zeroOrMalformedIdentifierIsNil() {
        #expect(TraceID(high: 0, low: 0) == nil && SpanID(0) == nil)
        #expect(TraceID("0") == nil && SpanID("00") == nil && SpanID("0000000000000000") == nil)
        #expect(TraceID(Self.trace.uppercased())?.description == Self.trace)
        #expect(SpanID("+7ad6b7169203331") == nil)
    }
}

/// The grammar, read in another way.
private enum Naive {
    static func context(_ value: String) -> HTTPTraceContext? {
        var characters = value.unicodeScalars[...]
        while let first = characters.first, [" ", "\t"].contains(first) { characters.removeFirst() }
        while let last = characters.last, [" ", "\t"].contains(last) { characters.removeLast() }
        let fields = characters.split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        guard fields.count >= 4, zip(fields, [2, 32, 16, 2]).allSatisfy({ $0.unicodeScalars.count == $1 }),
            fields[..<4].allSatisfy({ $0.unicodeScalars.allSatisfy("0123456789abcdef".unicodeScalars.contains) }),
            fields[0] != "ff", fields[0] != "00" || fields.count == 4,
            let trace = TraceID(fields[1]), let span = SpanID(fields[2]), let flags = UInt8(fields[3], radix: 16)
        else { return nil }
        return HTTPTraceContext(
            traceID: trace, spanID: span, flags: HTTPTraceContext.Flags(rawValue: flags & 3))
    }
}

/// Values that are valid but for a few changes.
enum Mutation {
    private static let characters = Array("0123456789abcdefABCDEFgz-_ ,.\t".utf8)

    static func value(using generator: inout SeededGenerator) -> String {
        var bytes: [UInt8] = []
        Hexadecimal.append([0, 0, 0, 1, 0xCC, 0xFE, 0xFF].randomElement(using: &generator) ?? 0, digits: 2, to: &bytes)
        for (count, isZero) in [(2, Int.random(in: 0..<20, using: &generator) == 0), (1, false)] {
            bytes.append(UInt8(ascii: "-"))
            for _ in 0..<count { Hexadecimal.append(isZero ? 0 : generator.next(), digits: 16, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "-"))
        Hexadecimal.append(generator.next() & 0xFF, digits: 2, to: &bytes)
        if Int.random(in: 0..<5, using: &generator) == 0 { bytes += Array("-more".utf8) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let place = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(characters.randomElement(using: &generator) ?? 0, at: place)
            case 2: bytes[place] = characters.randomElement(using: &generator) ?? 0
            case 3: bytes.swapAt(place, Int.random(in: bytes.indices, using: &generator))
            case 4: bytes.append(characters.randomElement(using: &generator) ?? 0)
            default: bytes.insert(characters.randomElement(using: &generator) ?? 0, at: 0)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
