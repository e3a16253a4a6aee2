import BenchmarkSupport
import LoaderChain
import LoaderChainPlatformFoundation
import MetricKitReporting
import ReportOutbox

/// The cost of twelve payloads of diagnostics that arrive at once, 15 MiB in all: while the system waits, and later.
func metricKitBenchmarks() -> [Benchmark] {
    let suite = Suite()

    suite.add(
        "metrickit/store",
        "Stores a payload of 1.25 MiB in an outbox, as a receiver does while the system waits.",
        limit: .milliseconds(50), bytes: DiagnosticWorkload.length
    ) {
        let box = BenchmarkReceiver()
        var payload = DiagnosticWorkload.payload
        var number = 0
        return { iterations in
            for _ in 0..<iterations {
                // A different payload every time, since an equal one is not stored again.
                number += 1
                DiagnosticWorkload.number(&payload, number)
                box.receive(payload)
            }
        }
    }

    suite.add(
        "metrickit/decode",
        "Reads a payload of diagnostics of 1.25 MiB.",
        bytes: DiagnosticWorkload.length
    ) {
        let data = DiagnosticWorkload.payload
        return { iterations in
            for _ in 0..<iterations {
                do {
                    blackHole(try DiagnosticPayload(data).diagnostics.count)
                } catch {
                    print("The payload could not be read: \(error)")
                }
            }
        }
    }

    return suite.benchmarks
}

/// A payload of four crashes of 320 KiB each.
private enum DiagnosticWorkload {
    static let length = payload.count

    static let payload: Data = {
        let crash =
            #"{"diagnosticMetaData":{"appVersion":"1.2","signal":11},"callStackTree":{"callStackPerThread":true,"callStacks":["#
            + (0..<16).map { _ in stack(of: 116) }.joined(separator: ",") + "]}}"
        let crashes = Array(repeating: crash, count: 4).joined(separator: ",")
        return Data(
            #"{"number":"0000000000","timeStampEnd":"2025-10-10 00:00:00","crashDiagnostics":[\#(crashes)]}"#.utf8)
    }()

    private static func stack(of depth: Int) -> String {
        let frame =
            #"{"binaryUUID":"70B89F27-1634-3580-A695-57CDB41D7743","offsetIntoBinaryTextSegment":165304,"sampleCount":1,"#
            + #""binaryName":"libexample.dylib","address":4295165304,"subFrames":["#
        return #"{"threadAttributed":false,"callStackRootFrames":["# + String(repeating: frame, count: depth)
            + String(repeating: "]}", count: depth) + "]}"
    }

    /// Writes a number into its placeholder.
    static func number(_ payload: inout Data, _ number: Int) {
        let place = #"{"number":""#.utf8.count
        var rest = number
        for digit in (place..<place + 10).reversed() {
            payload[digit] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}

/// A receiver with an outbox that sends nothing, and is emptied from time to time.
private final class BenchmarkReceiver {
    private let directory: URL
    private var box: ReportOutbox?
    private var receiver: MetricKitReceiver?
    private var stored = 0

    private static let mostStored = 100

    init() {
        let memory = FileManager.default.isWritableFile(atPath: "/dev/shm") ? URL(filePath: "/dev/shm") : nil
        directory = (memory ?? FileManager.default.temporaryDirectory).appending(path: "metrickit-\(UUID().uuidString)")
        do {
            let box = try ReportOutbox(directory: directory, chain: HTTPLoader(), startsSending: false)
            receiver = MetricKitReceiver(
                outbox: box, metricsRequest: nil,
                diagnosticsRequest: HTTPRequest(method: .post, host: "reports.example.com", path: "/v1/reports"),
                onError: { _, error in print("The payload was not stored: \(error)") })
            self.box = box
        } catch {
            print("The outbox could not be opened: \(error)")
        }
    }

    deinit {
        receiver = nil
        box = nil
        try? FileManager.default.removeItem(at: directory)
    }

    func receive(_ payload: Data) {
        receiver?.receive([payload], as: .diagnostics)
        stored += 1
        if stored % Self.mostStored == 0 { box?.purgeAll() }
    }
}
