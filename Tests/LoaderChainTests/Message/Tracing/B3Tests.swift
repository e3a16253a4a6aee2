import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct B3Tests {
    private static let trace = "80f198ee56343ba864fe8b2a57d3eff7"
    private static let span = "e457b5a2e4d86bd1"

    @Test(arguments: [
        ("\(trace)-\(span)-1-05e3ac9a4f6e3b90", true), ("\(trace)-\(span)-1", true), ("\(trace)-\(span)-d", true),
        ("\(trace)-\(span)-0", false), ("\(trace)-\(span)", true),
    ])
    func singleHeaderIsRead(_ value: String, _ isSampled: Bool) throws {
        let context = try #require(HTTPTraceContext(["b3": value]))
        #expect("\(context.traceID)-\(context.spanID)" == "\(Self.trace)-\(Self.span)")
        #expect(context.flags == (isSampled ? .sampled : []))
    }

    @Test(arguments: [
        "", "0", "1", "d", trace, "\(trace)-", "\(trace)-\(span)-", "\(trace)-\(span)-2", "\(trace)-\(span)-1-",
        "\(trace)-\(span)-1-05e3ac9a4f6e3b9", "\(trace)-\(span)-1-05e3ac9a4f6e3b90-", "\(trace)0-\(span)-1",
        "\(trace)-\(span)0-1", "00000000000000000000000000000000-\(span)-1", "\(trace)-0000000000000000-1",
        "g0f198ee56343ba864fe8b2a57d3eff7-\(span)-1",
    ])
    func invalidHeaderIsRejected(_ value: String) { #expect(HTTPTraceContext(["b3": value]) == nil) }

    @Test func shortTraceIDIsPaddedWithZeros() throws {
        let context = try #require(HTTPTraceContext(["b3": "64fe8b2a57d3eff7-\(Self.span)-1"]))
        #expect("\(context.traceID)" == "000000000000000064fe8b2a57d3eff7")
    }

    @Test func severalHeadersAreRead() throws {
        var headers: HTTPHeaders = ["X-B3-TraceId": Self.trace, "x-b3-spanid": Self.span]
        #expect(HTTPTraceContext(headers)?.flags == .sampled)
        headers["X-B3-Sampled"] = "0"
        #expect(HTTPTraceContext(headers)?.flags == [])
        headers["X-B3-Flags"] = "1"
        #expect(HTTPTraceContext(headers)?.flags == .sampled)
        headers["X-B3-Flags"] = nil
        headers["X-B3-Sampled"] = "maybe"
        #expect(HTTPTraceContext(headers) == nil)
    }

    @Test func traceParentTakesPrecedence() {
        let headers: HTTPHeaders = [
            "b3": "\(Self.trace)-\(Self.span)-0",
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ]
        #expect(HTTPTraceContext(headers)?.spanID.description == "b7ad6b7169203331")
        #expect(HTTPTraceContext(["b3": "\(Self.trace)-\(Self.span)-0", "traceparent": "x"])?.flags == [])
    }
}
