import Foundation
import Testing

@testable import APIHealthKit
@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct PayloadViewTests {
    private func lines(_ payload: String) -> [String] { PayloadView.lines(MetricKitReport(Data(payload.utf8))) }

    private func text(_ payload: String) -> String { lines(payload).map { $0 + "\n" }.joined() }

    @Test func metricsPayloadIsPrinted() {
        let text = text(Metrics.ios13)
        #expect(
            text.hasPrefix(
                """
                Metrics of version 1.0 (1), iPhone9,2, iPhone OS 13.1.3 (17A878)
                2019-10-22 06:59:00 UTC to 2019-10-23 06:59:00 UTC

                Time to first draw: 140 values
                  mean 1867.14 ms by bucket ends, 1862.14 ms by midpoints, 1790.71 ms of the middle half
                  median 2003.33 ms, p90 3005.33 ms
                  1000 ms to 1010 ms  50  █████████████████████████████████
                  2000 ms to 2010 ms  60  ████████████████████████████████████████
                  3000 ms to 3010 ms  30  ████████████████████

                """))
        #expect(
            text.contains(
                """

                Hang time: 140 values
                  mean 357.14 ms by bucket ends, 242.86 ms by midpoints, 207.14 ms of the middle half
                  median 200 ms, p90 560 ms
                  0 ms to 100 ms    50  █████████████████████████████████
                  100 ms to 400 ms  60  ████████████████████████████████████████
                  400 ms to 700 ms  30  ████████████████████

                Hang rate: 257.14 s and 720 hangs in an hour of use

                Cellular condition: 100 values
                """))
        #expect(
            text.contains(
                """
                Signpost Uploads / Compress, set 30 times
                  Processor time  30 s
                  Average memory  100 MB
                  Written         600 kB
                Durations: 140 values
                """))
        #expect(text.contains("  In the foreground                11.67 min\n"))
        #expect(text.contains("  Peak memory                      200 MB\n"))
        #expect(!text.contains("Not understood"))
    }

    @Test func leftoversArePrinted() {
        let text = text(Metrics.ios26)
        #expect(text.contains("Ends in the foreground\n  normal      12\n  bad access  1\n"))
        #expect(text.contains("  Binary files                     90 MB in 3 files\n"))
        #expect(
            text.hasSuffix("\nNot understood, or not known here:\n  thermalMetrics: {\"seriousTime\": \"7 sec\"}\n"))
    }

    @Test func diagnosticsPayloadIsPrinted() {
        let text = text(Diagnostics.ios26)
        #expect(
            text.hasPrefix(
                """
                6 diagnostics, 2025-10-10 11:54:00 device time to 2025-10-10 11:54:00 device time

                Crash of com.example.app, version 1.2 (1), iPhone18,1, iPhone OS 26.0 (23A341)
                  Exception       NSRangeException
                  Message         index 5 beyond bounds
                  Termination     Namespace SIGNAL, Code 0xb
                  Exception type  1
                  Exception code  0
                  Signal          11
                  Memory          0 is not in any region.
                  2 stacks; the one to blame:
                    Example + 165304, seen 20 times
                    libexample.dylib + 165311, seen 20 times
                """))
        #expect(text.contains("\nHang of com.example.app, version 1.2 (1)"))
        #expect(text.contains("  Duration  20 s\n  Kind      Main Runloop Hang\n"))
        #expect(text.contains("\nMemoryExceptionDiagnostics of version 1.2\nNot understood, or not known here:\n"))
        #expect(text.contains("  Written  2 kB\n"))
    }

    @Test func controlCharactersAreEscaped() {
        let hostile =
            #"{"appVersion":"1\u001b[2J\u000a\u202eevil","a\u001bMetrics":"\u0007","cpuMetrics":{"cumulativeCPUTime":"\u009b1m"}}"#
        for line in lines(hostile) {
            #expect(
                line.unicodeScalars.allSatisfy {
                    $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
                })
        }
        #expect(text(hostile).contains("version 1\\u{1B}[2J\\n\\u{202E}evil"))
    }

    @Test func longContentIsShortened() {
        let buckets = (0..<100).map {
            #"{"lowerBound":{"value":\#($0),"unit":"s"},"upperBound":{"value":\#($0 + 1),"unit":"s"},"count":1}"#
        }
        let unknown = (0..<50).map { #""x\#($0)":"\#(String(repeating: "y", count: 500))""# }
        let shown = lines(
            #"{"applicationLaunchMetrics":{"histogrammedResumeTime":{"buckets":[\#(buckets.joined(separator: ","))]}},\#(unknown.joined(separator: ","))}"#
        )
        #expect(shown.contains("  and 60 buckets more") && shown.contains("  and 30 more"))
        #expect(shown.allSatisfy { $0.count < 150 })
        let tree = #"{"callStacks":[{"callStackRootFrames":[\#((0..<30).map { _ in "{}" }.joined(separator: ","))]}]}"#
        let many = (0..<60).map { _ in #"{"callStackTree":\#(tree)}"# }.joined(separator: ",")
        let diagnostics = lines(#"{"hangDiagnostics":[\#(many)]}"#)
        #expect(diagnostics.contains("    and 18 frames more") && diagnostics.last == "and 10 more")
    }

    @Test func payloadsAreCombinedByVersion() throws {
        var spanning = try MetricPayload(Metrics.ios16)
        spanning.includesMultipleAppVersions = true
        let payloads = [
            try MetricPayload(Metrics.ios13), try MetricPayload(Metrics.ios16), try MetricPayload(Metrics.ios26),
            spanning,
        ]
        let text = PayloadView.lines(over: payloads).map { $0 + "\n" }.joined()
        #expect(text.hasPrefix("Version 1.0, 1 payload\nTime to first draw: 140 values\n"))
        #expect(
            text.contains(
                "\n\nVersion 1.2, 2 payloads\nTime to first draw: 280 values\n  mean 1867.14 ms by bucket ends"))
        #expect(text.hasSuffix("Left out, because they cover several versions: 1 payload\n"))
    }

    @Test(arguments: [
        (0.0, "0"), (1867.142857, "1867.14"), (0.1, "0.1"), (0.001, "0"), (-0.001, "0"), (-2.5, "-2.5"),
        (1e20, "1e+20"), (2.999, "3"),
    ])
    func numbersHaveAtMostTwoDecimals(_ number: Double, _ text: String) {
        #expect(NumberText.text(number, digits: 2, trimsZeros: true) == text)
    }

    @Test(arguments: [
        (Duration.milliseconds(1), "1 ms"), (.seconds(9), "9000 ms"), (.seconds(20), "20 s"),
        (.seconds(700), "11.67 min"),
        (.seconds(40_000), "11.11 h"), (.zero, "0 ms"),
    ])
    func durationsHaveFittingUnit(_ time: Duration, _ text: String) {
        #expect(PayloadView.time(time) == text)
    }
}
