import DurableFilesTesting
import Foundation
import LineProtocol
import LoaderChain
import ReportOutbox
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct ReceiverTests {
    private let directory: TemporaryDirectory
    private let outbox: ReportOutbox
    private let later = LaterWork()
    private let request = HTTPRequest(method: .post, host: "reports.example.com", path: "/v1/metrickit")

    init() throws {
        directory = try TemporaryDirectory()
        outbox = try ReportOutbox(directory: directory.url, chain: HTTPLoader(), startsSending: false)
    }

    private func receiver(
        _ tracking: [MetricKitTracking] = [], outbox: ReportOutbox? = nil,
        kinds: [MetricKitReceiver.Kind] = [.metrics, .diagnostics],
        onError: @escaping @Sendable (Data, OutboxError) -> Void = { _, _ in Issue.record("the outbox refuses") }
    ) -> MetricKitReceiver {
        MetricKitReceiver(
            outbox: outbox ?? self.outbox, requests: Dictionary(uniqueKeysWithValues: kinds.map { ($0, request) }),
            tracking: tracking, onError: onError
        ) { [later] in later.add($0) }
    }

    /// Different payloads of diagnostics.
    private func payloads(_ count: Int, length: Int = 20_000) -> [Data] {
        (0..<count).map { number in
            let padding = String(repeating: "x", count: length)
            return Data(
                #"{"timeStampEnd":"2025-10-10 00:00:00","number":\#(number),"p":"\#(padding)","hangDiagnostics":[{}]}"#
                    .utf8)
        }
    }

    /// The callback only submits each payload's bytes; nothing is decoded or tracked before it has returned.
    @Test func receiveStoresBytesAndDefersTracking() throws {
        let told = Notes<MetricKitReport>()
        let receiver = receiver([.reports { reports in reports.forEach { told.add($0) } }])
        let payloads = payloads(12)
        receiver.receive(payloads, as: .diagnostics)
        #expect(outbox.counters.accepted == 12 && outbox.counters.joined == 0 && outbox.counters.refused.isEmpty)
        #expect(told.all.isEmpty && later.count == 1)

        let inspector = try OutboxInspector(directory: directory.url)
        for (number, report) in try inspector.reports().enumerated() {
            let file = directory.url.appending(path: "exported-\(number)")
            try inspector.export(report.id, to: file)
            #expect(try Data(contentsOf: file) == payloads[number])
            #expect(report.id.rawValue.hasPrefix("metrickit-diagnostics-"))
            #expect(try inspector.request(of: report.id).url == request.url)
        }
        later.doAll()
        #expect(told.all.count == 12)
        #expect(told.all.map(\.data) == payloads)
    }

    @Test func repeatedPayloadIsStoredOnce() {
        let told = Notes<MetricKitReport>()
        let receiver = receiver([.reports { reports in reports.forEach { told.add($0) } }])
        let payloads = payloads(2)
        receiver.receive([payloads[0], payloads[0]], as: .diagnostics)
        receiver.receive(payloads, as: .diagnostics)
        receiver.receive(payloads, as: .diagnostics)
        #expect(outbox.counters.accepted == 2 && outbox.counters.joined == 0)
        #expect(later.count == 2)
        later.doAll()
        #expect(told.all.count == 2)
        // In another launch it has the same identifier.
        self.receiver().receive(payloads, as: .diagnostics)
        #expect(outbox.counters.accepted == 2 && outbox.counters.joined == 2)
    }

    @Test func unreadablePayloadIsStoredUnchanged() throws {
        let told = Notes<MetricKitReport>()
        let receiver = receiver([.reports { reports in reports.forEach { told.add($0) } }])
        let broken = Data(Metrics.ios13.utf8.prefix(500))
        receiver.receive([broken], as: .metrics)
        let id = try #require(outbox.reports.first?.id)
        let file = directory.url.appending(path: "exported")
        try OutboxInspector(directory: directory.url).export(id, to: file)
        #expect(try Data(contentsOf: file) == broken)
        later.doAll()
        guard case .unreadable(let kept, _)? = told.all.first else {
            Issue.record("it is read")
            return
        }
        #expect(kept == broken)
    }

    @Test func payloadRefusedByOutboxIsTrackedOnceAndRetried() throws {
        var settings = OutboxSettings()
        settings.maximumReportBytes = 1_000
        let small = try ReportOutbox(
            directory: directory.url.appending(path: "small"), chain: HTTPLoader(), settings: settings,
            startsSending: false
        )
        let (errors, told) = (Notes<OutboxError.Code>(), Notes<MetricKitReport>())
        let receiver = receiver(
            [.reports { reports in reports.forEach { told.add($0) } }], outbox: small,
            onError: { _, error in errors.add(error.code) })
        let payloads = payloads(1)
        receiver.receive(payloads, as: .diagnostics)
        #expect(errors.all.isEmpty)
        later.doAll()
        #expect(errors.all.count == 1 && told.all.count == 1)
        receiver.receive(payloads, as: .diagnostics)
        later.doAll()
        #expect(errors.all.count == 2 && told.all.count == 1)
        #expect(small.count == 0)
    }

    @Test func payloadWithoutRequestIsNotStored() {
        let receiver = receiver(kinds: [.diagnostics])
        receiver.receive([Data(Metrics.ios13.utf8)], as: .metrics)
        #expect(outbox.count == 0)
        receiver.receive([Data(Diagnostics.ios16.utf8)], as: .diagnostics)
        #expect(outbox.count == 1)
    }

    /// Whether the code is called by `receive`; work on a queue does not have its caller's value.
    @TaskLocal private static var isReceiving = false

    @Test func defaultQueueRunsTrackers() async {
        let isCalledByReceive = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let receiver = MetricKitReceiver(
                outbox: nil, metricsRequest: nil, diagnosticsRequest: nil,
                tracking: [
                    .attributes(applicationVersion: "1.2") { _ in continuation.resume(returning: Self.isReceiving) }
                ])
            Self.$isReceiving.withValue(true) { receiver.receive([Data(Metrics.ios16.utf8)], as: .metrics) }
        }
        #expect(!isCalledByReceive)
    }

    @Test func attributesHaveDocumentedNamesAndValues() throws {
        let told = Notes<[String: Double]>()
        let receiver = receiver([.attributes(applicationVersion: "1.2") { told.add($0) }])
        receiver.receive([Metrics.ios16, Metrics.ios13, Metrics.ios26].map { Data($0.utf8) }, as: .metrics)
        receiver.receive([Data(Metrics.ios14Chinese.utf8)], as: .metrics)
        later.doAll()
        let attributes = try #require(told.all.first)
        #expect(told.all.count == 1)
        func hundredths(_ name: String) -> Double? { attributes[name].map { ($0 * 100).rounded() / 100 } }
        #expect(hundredths("first_draw_avg") == 1867.14 && hundredths("hang_time_avg") == 357.14)
        #expect(hundredths("first_draw_median") == 2003.33 && hundredths("first_draw_p90") == 3005.33)
        #expect(hundredths("hang_time_median") == 200 && hundredths("hang_time_p90") == 560)
        #expect(hundredths("hangs_per_hour") == 720 && hundredths("hang_time_per_hour") == 257_142.86)
        #expect(
            Set(attributes.keys.filter { $0.hasSuffix("_avg") }) == [
                "first_draw_avg", "optimized_first_draw_avg", "resume_avg", "extended_launch_avg", "hang_time_avg",
            ])
    }

    @Test func eachDiagnosticIsTrackedSeparately() {
        let told = Notes<String>()
        let receiver = receiver([.diagnostics { told.add($0.details.name) }])
        receiver.receive([Data(Diagnostics.ios14.utf8), Data(Diagnostics.ios27.utf8)], as: .diagnostics)
        later.doAll()
        #expect(told.all == ["crash", "hang", "CPU exception", "disk write exception", "hang"])
    }

    @Test func pointsAreTracked() {
        let told = Notes<Point>()
        let receiver = receiver([.points(secondsFromGMT: { 3_600 }) { told.add($0) }])
        receiver.receive([Data(Metrics.ios16.utf8)], as: .metrics)
        later.doAll()
        #expect(
            told.all.map { $0.tags["metric"] } == [
                "first_draw", "optimized_first_draw", "resume", "extended_launch", "hang_time",
            ])
        // 00:00 on the device's clock, an hour ahead.
        #expect(told.all.allSatisfy { $0.timestamp?.count(in: .seconds) == 1_671_577_200 })
    }
}
