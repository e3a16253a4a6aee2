import Foundation
import LineProtocol
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct PointTests {
    @Test func payloadBecomesPoints() throws {
        let points = try MetricPayload(Metrics.ios13).points()
        #expect(points.map { $0.tags["metric"] } == ["first_draw", "resume", "hang_time"])
        let hang = try #require(points.last)
        #expect(hang.measurement == "metrickit")
        #expect(hang.tags["app_version"] == "1.0" && hang.tags["device"] == "iPhone9,2")
        #expect(hang.tags["os_version"] == "iPhone OS 13.1.3 (17A878)")
        #expect(hang.fields["count"] == 140 && hang.fields["sum"] == 50_000.0 && hang.fields["foreground"] == 700_000.0)
        #expect(hang.fields["median"] == 200.0 && hang.fields["p90"] == 560.0)
        #expect(points[0].fields["foreground"] == nil)
        #expect(
            points[0].fields["avg"] == .double(1867.142857) && points[0].fields["avg_midpoint"] == .double(1862.142857))
        var encoder = LineEncoder(dialect: .influxDB2, capacity: 256)
        for point in points { encoder.append(point) }
        #expect(encoder.text.split(separator: "\n").count == 3)
    }

    @Test func timestampIsEndPlusFractionFromBytes() throws {
        let payload = try MetricPayload(Metrics.ios13)
        let time = try #require(payload.points().first?.timestamp)
        #expect(time.count(in: .seconds) == 1_571_813_940)
        #expect(payload.points() == (try MetricPayload(Metrics.ios13)).points())
        // The payload of another device with the same end is another point.
        let other = try MetricPayload(Metrics.ios13.replacing("\"bucketCount\": 50", with: "\"bucketCount\": 51"))
        #expect(other.points().first?.timestamp != time)
        #expect(other.points().first?.timestamp?.count(in: .seconds) == 1_571_813_940)
    }

    @Test func timestampNeedsZoneOrReceiptTime() throws {
        let payload = try MetricPayload(Metrics.ios16)
        #expect(payload.points().first?.timestamp == nil)
        #expect(payload.points(received: .seconds(5)).first?.timestamp?.count(in: .seconds) == 5)
        #expect(payload.points(secondsFromGMT: -3_600).first?.timestamp?.count(in: .seconds) == 1_671_584_400)
    }

    @Test func mixedVersionsOrMissingSamplesGiveNoPoints() throws {
        var payload = try MetricPayload(Metrics.ios13)
        payload.includesMultipleAppVersions = true
        #expect(payload.points().isEmpty)
        #expect(MetricPayload().points().isEmpty)
        #expect([MetricPayload()].attributes(applicationVersion: "1").isEmpty)
    }

    @Test func dayWithoutHangsCountsForHangRate() throws {
        let payload = try MetricPayload(
            """
            {"appVersion":"1","timeStampEnd":"2025-10-10 00:00:00 +0000",
            "applicationTimeMetrics":{"cumulativeForegroundTime":"700 sec"},
            "applicationResponsivenessMetrics":{"histogrammedAppHangTime":{"histogramNumBuckets":0,"histogramValue":{}}}}
            """)
        #expect(payload.hangRate?.hangsPerHour == 0)
        let point = try #require(payload.points().first)
        #expect(point.tags["metric"] == "hang_time" && point.fields["count"] == 0 && point.fields["sum"] == 0.0)
        #expect(point.fields["foreground"] == 700_000.0 && point.fields["avg"] == nil)
    }
}
