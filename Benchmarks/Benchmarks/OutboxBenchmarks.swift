import BenchmarkSupport
import LoaderChain
import LoaderChainPlatformFoundation
import ReportOutbox

/// The cost of storing a report, while nothing is being sent.
func outboxBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let kibibyte = Data(repeating: 0x61, count: 1024)

    suite.add(
        "outbox/submit",
        "Stores a report of 1 KiB that survives the end of the process: written, renamed, indexed.",
        peer: "peer/data-write-atomic", limit: .microseconds(50), bytes: 1024
    ) {
        let box = BenchmarkBox()
        let request = HTTPRequest(method: .put, host: "reports.example.com", path: "/v1/reports")
        return { iterations in
            for _ in 0..<iterations { box.submit(kibibyte, request) }
        }
    }

    suite.add(
        "outbox/deliver",
        "The same, and delivers it: counted, read, checked, sent through a chain that responds at once, removed.",
        bytes: 1024
    ) {
        let box = BenchmarkBox(sends: true)
        let request = HTTPRequest(method: .put, host: "reports.example.com", path: "/v1/reports")
        return { iterations in
            for _ in 0..<iterations { box.submit(kibibyte, request) }
            box.drain()
        }
    }

    suite.add(
        "peer/data-write-atomic",
        "Writes 1 KiB to a new file with Foundation's atomic write.", bytes: 1024
    ) {
        let directory = BenchmarkDirectory()
        var number = 0
        return { iterations in
            for _ in 0..<iterations {
                number += 1
                do {
                    try kibibyte.write(to: directory.url.appending(path: "\(number)"), options: .atomic)
                } catch {
                    print("The file could not be written: \(error)")
                }
            }
        }
    }

    suite.add(
        "outbox/open-100000",
        "Opens an outbox in which an earlier launch left 100,000 reports, until the first could be sent.",
        limit: .seconds(2)
    ) {
        let box = BenchmarkBox()
        let request = HTTPRequest(method: .put, host: "reports.example.com", path: "/v1/reports")
        for _ in 0..<100_000 { box.submit(Data("small".utf8), request) }
        return { iterations in
            for _ in 0..<iterations { box.reopen() }
        }
    }

    return suite.benchmarks
}

/// A directory that is removed when it is released.
///
/// It is in memory if possible, unless `TMPDIR` says otherwise. A disk would dominate the result: some file systems create
/// files slowly for minutes after many were removed, so that every run would pay for the one before.
final class BenchmarkDirectory {
    let url: URL

    private static var parent: URL {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let isWanted = ProcessInfo.processInfo.environment["TMPDIR"] == nil
        return isWanted && FileManager.default.isWritableFile(atPath: "/dev/shm")
            ? memory : FileManager.default.temporaryDirectory
    }

    init() {
        url = Self.parent.appending(path: "benchmark-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            print("The directory could not be made: \(error)")
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Accepts every report.
private final class Accepting: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}

/// An outbox that holds its reports without sending them.
private final class BenchmarkBox {
    private let directory = BenchmarkDirectory()
    private let sends: Bool
    private var box: ReportOutbox?

    init(sends: Bool = false) {
        self.sends = sends
        reopen()
    }

    func drain() { box?.drain() }

    func reopen() {
        var settings = OutboxSettings()
        settings.maximumCount = .max
        settings.maximumBytes = .max
        box = nil
        do throws(OutboxError) {
            box = try ReportOutbox(
                directory: directory.url, chain: Accepting(), settings: settings, startsSending: sends)
        } catch {
            print("The outbox could not be opened: \(error)")
        }
        box?.drain()
    }

    func submit(_ data: Data, _ request: HTTPRequest) {
        do {
            _ = try box?.submit(data, request: request)
        } catch {
            print("The report was not stored: \(error)")
        }
    }
}
