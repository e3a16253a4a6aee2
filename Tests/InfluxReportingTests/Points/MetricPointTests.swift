import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import InfluxReporting

/// The points of metrics, decoded independently of the code that writes them.
@Suite(.timeLimit(.minutes(10))) struct MetricPointTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    private func point(_ record: MetricRecord, nudge: Int64 = 0) throws -> Point {
        var encoder = LineEncoder(dialect: .influxDB2)
        MetricPoint.append(record, nudge: nudge, to: &encoder)
        #expect(encoder.repairs.isEmpty, "\(encoder.repairs)")
        var results: [Result<Point, LineDecodingError>] = []
        var decoder = LineDecoder()
        decoder.decode(encoder.bytes) { results.append($0) }
        let points = try results.map { try $0.get() }
        #expect(points.count == 1)
        return try #require(points.first)
    }

    private static let full = HTTPMetric(
        start: start, duration: .milliseconds(250), waiting: .milliseconds(50), method: .post,
        host: "api.example.com",
        port: 443, route: "/users/{id}", module: "shop", origin: "cart", tags: ["plan": "free"], attempts: 2,
        bytesSent: 10, bytesReceived: 2_000, timeToFirstByte: .milliseconds(100), networkProtocol: "http/1.1",
        status: .serviceUnavailable, outcome: .response(.serviceUnavailable), samplingRate: 0.5)

    @Test func pointHasEveryKnownValueOfRequest() throws {
        let point = try point(.request(Self.full), nudge: 7)
        #expect(point.measurement == "APIHealth")
        #expect(
            point.tags == [
                "error": "503", "host": "api.example.com", "method": "POST", "module": "shop", "origin": "cart",
                "outcome": "server-error", "path": "/users/{id}", "plan": "free", "port": "443", "scheme": "https",
                "status": "503",
            ])
        #expect(
            point.fields == [
                "attempts": 2, "bytes_received": 2_000, "bytes_sent": 10, "duration": 0.25, "failed": 1,
                "first_byte": 0.1,
                "protocol": "http/1.1", "sampling_rate": 0.5, "waiting": 0.05,
            ])
        #expect(point.timestamp == Timestamp(nanoseconds: 1_700_000_000_000_000_007))
    }

    @Test func unknownValuesAreOmitted() throws {
        let metric = HTTPMetric(
            start: Self.start, duration: .seconds(1), host: "", route: "/",
            outcome: .rejected(.queueFull, by: "Throttle"))
        let point = try point(.request(metric))
        #expect(
            point.tags == [
                "error": "queueFull", "loader": "Throttle", "method": "GET", "outcome": "rejected", "path": "/",
                "scheme": "https",
            ])
        #expect(point.fields == ["attempts": 1, "duration": 1.0, "failed": 1, "waiting": 0.0])
    }

    @Test(
        arguments: [
            (HTTPMetric.Outcome.response(.ok), "success", nil, 0), (.response(HTTPStatus(301)), "redirection", nil, 0),
            (.response(.notFound), "client-error", "404", 1), (.failed(.timedOut), "failed", "timedOut", 1),
            (.cancelled, "cancelled", "cancelled", nil), (.reset, "reset", "resetInProgress", nil),
            (.unparsable, "unparsable", "cannotDecodeResponse", 1),
        ] as [(HTTPMetric.Outcome, String, String?, FieldValue?)])
    func outcomeDeterminesTags(outcome: HTTPMetric.Outcome, word: String, error: String?, failed: FieldValue?) throws {
        let metric = HTTPMetric(start: Self.start, duration: .zero, host: "a", route: "/", outcome: outcome)
        let point = try point(.request(metric))
        #expect(point.tags["outcome"] == word)
        #expect(point.fields["failed"] == failed)
        #expect(point.tags["error"] == error)
    }

    @Test func userTagsCannotReplaceBuiltInTags() throws {
        let metric = HTTPMetric(
            start: Self.start, duration: .zero, host: "a", route: "/",
            tags: ["host": "evil", "error": "none", "": "x"],
            outcome: .response(.ok))
        let point = try point(.request(metric))
        #expect(point.tags["host"] == "a")
        #expect(point.tags["error"] == nil)
    }

    /// A server that has seen a field refuses a tag of the same name, also in another point.
    @Test func userTagsCannotHaveNamesOfFields() throws {
        let full = try point(.request(Self.full))
        var metric = HTTPMetric(
            start: Self.start, duration: .zero, host: "a", route: "/", outcome: .response(.ok))
        let plain = try point(.request(metric))
        for field in full.fields { metric.tags[field.key] = "x" }
        #expect(metric.tags.count == 9)
        #expect(try point(.request(metric)) == plain)
    }

    @Test func userNamesAreEitherTagsOrFields() throws {
        let counters: [String: Int64] = [
            "count": 9, "duration": 9, "items": 3, "name": 9, "sampling_rate": 9,
        ]
        let attributes = [
            "count": "x", "duration": "x", "items": "x", "name": "x", "plan": "free", "sampling_rate": "x",
        ]
        let event = MetricEvent(name: "a", date: Self.start, counters: counters, attributes: attributes)
        #expect(
            try point(.event(event))
                == Point(
                    "AppEvent", tags: ["name": "a", "plan": "free"],
                    fields: ["count": 1, "duration": 9, "items": 3], timestamp: .seconds(1_700_000_000)))
        let trace = MetricTrace(
            name: "a", start: Self.start, duration: .seconds(2), counters: counters, attributes: attributes)
        #expect(
            try point(.trace(trace))
                == Point(
                    "AppTrace", tags: ["name": "a", "plan": "free"],
                    fields: ["duration": 2.0, "count": 9, "items": 3], timestamp: .seconds(1_700_000_000)))
    }

    @Test func eventsAndTracesBecomePoints() throws {
        let event = MetricEvent(
            name: "cart opened", date: Self.start, counters: ["items": 3, "count": 9], attributes: ["plan": "free"])
        #expect(
            try point(.event(event))
                == Point(
                    "AppEvent", tags: ["name": "cart opened", "plan": "free"], fields: ["count": 1, "items": 3],
                    timestamp: .seconds(1_700_000_000)))
        let trace = MetricTrace(
            name: "checkout", start: Self.start, duration: .milliseconds(1_500), counters: ["steps": 4],
            attributes: ["name": "x", "payment": "a=b, c"], samplingRate: 0.25)
        #expect(
            try point(.trace(trace))
                == Point(
                    "AppTrace", tags: ["name": "checkout", "payment": "a=b, c"],
                    fields: ["duration": 1.5, "sampling_rate": 0.25, "steps": 4], timestamp: .seconds(1_700_000_000)))
    }

    @Test func extremeDatesDoNotTrap() {
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            _ = TimeNudge.timestamp(Date(timeIntervalSince1970: seconds), 999)
        }
        #expect(TimeNudge.timestamp(Date(timeIntervalSince1970: 1e300), 999).nanoseconds == .max)
    }
}
