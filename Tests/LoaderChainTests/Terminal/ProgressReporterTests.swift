import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ProgressReporterTests {
    private let log = EventLog()
    private let queue = DispatchQueue(label: "progress")

    private func reporter() -> ProgressReporter {
        ProgressReporter({ [log] in log.note("\($0.bytesSent)") }, on: queue)
    }

    @Test func equalProgressIsReportedOnce() {
        let reporter = reporter()
        for sent: Int64 in [0, 5, 5, 9, 9, 9] {
            reporter.report(TransferProgress(bytesSent: sent))
            queue.sync {}
        }
        #expect(log.events == ["0", "5", "9"])
    }

    @Test func pendingProgressIsReportedByNewestValue() {
        let reporter = reporter()
        queue.suspend()
        for sent: Int64 in [1, 2, 3, 3] { reporter.report(TransferProgress(bytesSent: sent)) }
        queue.resume()
        queue.sync {}
        reporter.report(TransferProgress(bytesSent: 3))
        queue.sync {}
        #expect(log.events == ["3"])
    }

    @Test func progressAfterEndIsNotReported() {
        let reporter = reporter()
        queue.suspend()
        reporter.report(TransferProgress(bytesSent: 1))
        reporter.end()
        reporter.report(TransferProgress(bytesSent: 2))
        queue.resume()
        queue.sync {}
        #expect(log.events.isEmpty)
    }
}
