import InfluxReporting
import LineProtocol
import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct ReportModelTests {
    private static func sample(
        at second: Int64, host: String = "a", kind: HTTPMetric.Outcome.Kind = .success,
        _ duration: Duration = .milliseconds(5)
    ) -> RequestSample {
        RequestSample(
            host: host, method: "GET", route: "/x", duration: duration, kind: kind, time: second * 1_000_000_000)
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func incrementalTimeSlotsMatchFinalDivision(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var model = ReportModel()
        var seconds: [Int64] = []
        // Near 1970 as well, where division could round the wrong way.
        let base = Bool.random(using: &generator) ? 0 : Int64(1_700_000_000)
        var spread: Int64 = 1
        for _ in 0..<200 {
            if Int.random(in: 0..<10, using: &generator) == 0 { spread = min(spread * 8, 1_000_000_000) }
            let second = base + Int64.random(in: -spread...spread, using: &generator)
            seconds.append(second)
            model.note(Self.sample(at: second))
        }
        let width = model.slots.width
        var expected: [Int64: Int] = [:]
        for second in seconds {
            let slot = Int64((Double(second) / Double(width)).rounded(.down))
            expected[slot, default: 0] += 1
        }
        #expect(model.routes.values.first?.slots.mapValues(\.count) == expected)
        #expect(model.slots.range == expected.keys.min()!...expected.keys.max()!)
        #expect(expected.keys.max()! - expected.keys.min()! < Int64(TimeSlots.limit))
        // No wider than it must be.
        let isFinest = width == 1 || seconds.max()! - seconds.min()! >= Int64(TimeSlots.limit) * width / 12
        #expect(isFinest)
    }

    @Test func extremeTimesDoNotTrap() {
        var model = ReportModel()
        for time in [Int64.min, .max, 0, -1] {
            model.note(
                RequestSample(host: "a", method: "GET", route: "/", duration: .seconds(1), kind: .success, time: time))
        }
        #expect(model.total.count == 4)
        #expect(ReportPage(model, title: "t").html.contains("4 requests"))
    }

    @Test func cancelledAndResetRequestsAreNotJudged() {
        var model = ReportModel()
        let kinds = HTTPMetric.Outcome.Kind.allCases
        for kind in kinds { model.note(Self.sample(at: 1, kind: kind)) }
        #expect(model.total.count == kinds.count)
        #expect(model.total.good == 2)
        #expect(model.total.judged == kinds.count - 2)
    }

    @Test func latencyConditionsIgnoreCancelledAndResetRequests() {
        var model = ReportModel()
        model.note(Self.sample(at: 1))
        for kind in [HTTPMetric.Outcome.Kind.cancelled, .reset] {
            model.note(Self.sample(at: 1, kind: kind, .seconds(60)))
        }
        #expect(model.measured.map(\.latency.maximum) == [.milliseconds(5)])
        #expect(model.total.latency.maximum == .seconds(60))
    }

    @Test func routesBeyondLimitAreCountedTogether() {
        var model = ReportModel()
        for number in 0..<1_000 { model.note(Self.sample(at: 1, host: "host\(number)")) }
        #expect(model.routes.count == ReportModel.routeLimit + 1)
        #expect(
            model.routes[.others]?.total.count == 1_000
                - ReportModel.routeLimit)
    }

    @Test func metricRoundTripsThroughItsLine() throws {
        for kind in HTTPMetric.Outcome.Kind.allCases {
            let outcome: HTTPMetric.Outcome =
                switch kind {
                case .success: .response(200)
                case .redirection: .response(304)
                case .clientError: .response(404)
                case .serverError: .response(503)
                case .failed: .failed(.timedOut)
                case .cancelled: .cancelled
                case .reset: .reset
                case .unparsable: .unparsable
                case .rejected: .rejected(.circuitOpen, by: "CircuitBreaker")
                }
            let metric = HTTPMetric(
                start: .init(timeIntervalSince1970: 1_700_000_000), duration: .milliseconds(12), host: "a b,c=d",
                route: "/users/{id}", outcome: outcome)
            var encoder = LineEncoder()
            MetricPoint.append(.request(metric), nudge: 0, to: &encoder)
            var decoder = LineDecoder()
            var read: [RequestSample] = []
            decoder.decode(encoder.bytes) {
                if case .success(let point) = $0 { read += [RequestSample(point)].compactMap(\.self) }
            }
            let sample = try #require(read.first)
            #expect(sample.kind == kind)
            #expect(sample.host == "a b,c=d")
            #expect(sample.route == "/users/{id}")
            #expect(sample.method == "GET")
            #expect(sample.duration == .milliseconds(12))
            #expect(sample.time == 1_700_000_000_000_000_000)
        }
    }

    @Test func nonDefaultPortIsShownWithHost() {
        let hosts = [("http", 80), ("https", 443), ("http", 443), ("https", 8_443)].map { scheme, port in
            RequestSample(
                Point(
                    "APIHealth",
                    tags: ["host": "a", "outcome": "success", "scheme": scheme, "port": "\(port)"],
                    fields: ["duration": 1.5],
                    timestamp: .seconds(1)))?.host
        }
        #expect(hosts == ["a", "a", "a:443", "a:8443"])
    }

    @Test func scaleCoversLargestValueWithFewMarks() {
        for exponent in -6...6 {
            for digit in [1.0, 1.3, 2, 4.9, 5, 7, 9.99] {
                var value = digit
                for _ in 0..<abs(exponent) { value *= exponent < 0 ? 0.1 : 10 }
                let scale = ReportScale(upTo: value)
                #expect(scale.end >= value * 0.999_999 && scale.end <= value * 2.5, "\(value)")
                #expect((2...7).contains(scale.marks.count), "\(value)")
            }
        }
        for value in [0, -1, .nan, .infinity] as [Double] { #expect(ReportScale(upTo: value).end == 1) }
    }
}
