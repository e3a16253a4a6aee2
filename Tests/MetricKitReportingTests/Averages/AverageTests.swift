import Foundation
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct AverageTests {
    /// A payload with times to first draw, hang times and a time of use.
    private func payload(
        _ version: String, draw: [(Int, Int, Int)] = [], hang: [(Int, Int, Int)]? = nil, foreground: Int? = nil,
        spans: Bool = false
    ) -> MetricPayload {
        var payload = MetricPayload()
        payload.appVersion = version
        payload.includesMultipleAppVersions = spans
        var launch = LaunchMetrics()
        launch.timeToFirstDraw = Histogram(milliseconds: draw)
        payload.applicationLaunch = launch
        if let hang {
            var responsiveness = ResponsivenessMetrics()
            responsiveness.hangTime = Histogram(milliseconds: hang)
            payload.applicationResponsiveness = responsiveness
        }
        if let foreground {
            var times = ApplicationTimeMetrics()
            times.foreground = .seconds(foreground)
            payload.applicationTime = times
        }
        return payload
    }

    @Test func averageUsesOnlyRequestedVersion() {
        let payloads = [
            payload("1.2", draw: [(0, 100, 1)]), payload("1.1", draw: [(0, 900, 1)]),
            payload("1.2", draw: [(0, 900, 1)], spans: true), payload("1.2"),
        ]
        #expect(payloads.of(applicationVersion: "1.2").count == 2)
        #expect(payloads.average(for: \.applicationLaunch, applicationVersion: "1.2") == .milliseconds(100))
        #expect(
            payloads.average(for: \.applicationLaunch, applicationVersion: "1.1", by: .midpoint) == .milliseconds(450))
        #expect(payloads.average(for: \.applicationLaunch, applicationVersion: "1.3") == nil)
        #expect(payloads.average(for: \.applicationResponsiveness, applicationVersion: "1.2") == nil)
        #expect([payload("1.2")].average(for: \.applicationLaunch, applicationVersion: "1.2") == nil)
        #expect([payload("1.2")].average(for: \.applicationLaunch, applicationVersion: "1.2", over: .payloads) == nil)
    }

    @Test func averageWeighsSamplesOrPayloads() {
        let payloads = [
            payload("1", draw: [(0, 100, 9)]), payload("1", draw: [(0, 100, 1), (100, 1100, 0), (0, 1100, 0)]),
            payload("1", draw: [(100, 1100, 10)]),
        ]
        #expect(payloads.average(for: \.applicationLaunch, applicationVersion: "1") == .milliseconds(600))
        #expect(
            rounded(payloads.average(for: \.applicationLaunch, applicationVersion: "1", over: .payloads), 2) == 433.33)
        let merged = payloads.histogram(for: \.applicationLaunch?.timeToFirstDraw, applicationVersion: "1")
        #expect(merged == Histogram(milliseconds: [(0, 100, 10), (100, 1100, 10)]))
        #expect(payloads.histogram(for: \.applicationLaunch?.resumeTime, applicationVersion: "1") == nil)
        #expect(
            payloads.average(for: \.applicationLaunch?.timeToFirstDraw, applicationVersion: "1", by: .midpoint)
                == .milliseconds(325))
    }

    @Test func hangRateIsPerHourOfUse() throws {
        let known = try #require(MetricPayload(Metrics.ios13).hangRate)
        // 140 hangs of 50 seconds in all, in 700 seconds.
        #expect(known.hangsPerHour == 720)
        #expect(rounded(known.timePerHour(), 2) == 257_142.86)
        #expect(rounded(known.timePerHour(by: .midpoint), 2) == 174_857.14)
        #expect(HangRate(hangs: Known.hangTime, foreground: .zero) == nil)

        let payloads = [
            payload("1", hang: [(0, 500, 2)], foreground: 1_800), payload("1", hang: [], foreground: 1_800),
            payload("1", foreground: 3_600), payload("1", hang: [(0, 500, 9)]),
            payload("2", hang: [(0, 1, 1)], foreground: 1),
        ]
        let rate = try #require(payloads.hangRate(applicationVersion: "1"))
        #expect(rate.hangsPerHour == 2)
        #expect(rate.timePerHour() == .seconds(1))
        #expect(payloads.hangRate(applicationVersion: "3") == nil)
        #expect(payload("1", hang: [(0, 1, 1)], foreground: 0).hangRate == nil)
    }
}
