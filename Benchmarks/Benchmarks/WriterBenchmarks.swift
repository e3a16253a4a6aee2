import BenchmarkSupport
import InfluxReporting
import LineProtocol
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// The cost of handing in a point, while nothing is being sent and the oldest points are dropped.
func writerBenchmarks() -> [Benchmark] {
    let suite = Suite()
    for threads in [1, 16] {
        // A point allocates nothing; the event for a dropped block of several hundred does.
        suite.add(
            "writer/accept-\(threads)",
            """
            Hands in a point of a prepared series: encoded, and in a buffer whose bound holds\
            \(threads == 1 ? "." : "; from \(threads) threads, the wall time for each point of all.")
            """,
            peer: "peer/locked-array-\(threads)", limit: threads == 1 ? .nanoseconds(300) : .nanoseconds(333),
            allocations: 0.02, bytes: ServicePoints.lineLength
        ) { accepting(threads, WriterUnderTest()) }

        suite.add(
            "peer/locked-array-\(threads)",
            "Appends the point, as one interpolated string, to an array behind a lock, which is emptied at 100,000.",
            bytes: ServicePoints.lineLength
        ) {
            let lines = LockedLines()
            return { iterations in
                onThreads(threads, total: iterations) { range in
                    for index in range { lines.append(index) }
                }
            }
        }
    }

    suite.add(
        "writer/accept-disk",
        "Hands in the same point to a writer with a directory: it survives the end of the process when the call returns.",
        peer: "peer/file-append", bytes: ServicePoints.lineLength
    ) { accepting(1, WriterUnderTest(directory: BenchmarkDirectory())) }

    suite.add(
        "peer/file-append", "Appends the point, as one interpolated string, to an open file with one system call.",
        bytes: ServicePoints.lineLength
    ) {
        let file = AppendedFile(BenchmarkDirectory())
        return { iterations in
            for index in 0..<iterations { file.append(LockedLines.line(index)) }
        }
    }

    suite.add(
        "writer/record", "Turns a measured request into a point, as a tap hands it over.",
        bytes: ServicePoints.lineLength
    ) {
        let test = WriterUnderTest()
        let metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 1_700_000_000), duration: .milliseconds(30), host: "api.example.com",
            port: 443, route: "/v1/users/{id}/orders/{id}", attempts: 1, bytesReceived: 2_000, status: .ok,
            outcome: .response(.ok))
        return { iterations in
            for _ in 0..<iterations { test.writer.record(.request(metric)) }
        }
    }
    return suite.benchmarks
}

private func accepting(_ threads: Int, _ test: WriterUnderTest) -> (Int) -> Void {
    { iterations in
        onThreads(threads, total: iterations) { range in
            for index in range { test.write(index) }
        }
    }
}

/// A writer that sends nothing, so that only handing in is measured, with the series of its points.
private final class WriterUnderTest: @unchecked Sendable {
    let writer: InfluxWriter
    private let service = ServicePoints()
    private let series: [PreparedSeries]
    private let directory: BenchmarkDirectory?

    init(directory: BenchmarkDirectory? = nil) {
        self.directory = directory
        var settings = WriterSettings()
        settings.idleInterval = .seconds(100_000)
        settings.maximumAge = .seconds(100_000)
        settings.batchPoints = .max
        settings.batchBytes = .max
        settings.maximumPoints = 100_000
        writer = Self.make(settings, directory?.url)
        let (writer, service) = (writer, service)
        series = (0..<ServicePoints.period).map { writer.series("APIHealth", tags: service.tags($0)) }
    }

    private static func make(_ settings: WriterSettings, _ directory: URL?) -> InfluxWriter {
        do {
            let url = URL(string: "http://influx.example.com") ?? URL(filePath: "/")
            let destination = try InfluxDestination.influxDB1(url, database: "benchmark")
            guard let directory else {
                return InfluxWriter(destination: destination, chain: HTTPLoader(), settings: settings)
            }
            return try InfluxWriter(
                destination: destination, chain: HTTPLoader(), directory: directory, settings: settings)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    @inline(__always)
    func write(_ index: Int) {
        writer.write(series[index % ServicePoints.period], timestamp: service.timestamp(index)) { fields in
            fields.set("duration", service.duration(index))
            fields.set("bytes", service.bytes(index))
        }
    }
}

/// What you would write first: an array behind a lock.
private final class LockedLines: @unchecked Sendable {
    private let lines = Locked<[String]>([])
    private static let service = ServicePoints()

    static func line(_ index: Int) -> String {
        """
        APIHealth,host=\(service.host(index)),method=\(service.method(index)),path=\(service.path(index)),\
        status=\(service.status(index)) duration=\(service.duration(index)),bytes=\(service.bytes(index))i \
        \(1_700_000_000_000 + index)
        """
    }

    func append(_ index: Int) {
        let line = Self.line(index)
        lines.withLock { lines in
            if lines.count == 100_000 { lines.removeAll(keepingCapacity: true) }
            lines.append(line)
        }
    }
}

/// A file that lines are appended to, and that is started again when it has grown large.
private final class AppendedFile {
    private let directory: BenchmarkDirectory
    private let number: CInt
    private var count = 0

    init(_ directory: BenchmarkDirectory) {
        self.directory = directory
        number = open(
            directory.url.appending(path: "lines").path(percentEncoded: false), O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }

    deinit { close(number) }

    func append(_ line: String) {
        var line = line
        count += 1
        if count % 100_000 == 0 { ftruncate(number, 0) }
        let written = line.withUTF8 { write(number, $0.baseAddress, $0.count) }
        if written < 0 { print("The line was not written.") }
    }
}
