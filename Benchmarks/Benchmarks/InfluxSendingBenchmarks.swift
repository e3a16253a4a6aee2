import BenchmarkSupport
import InfluxReporting
import LineProtocol
import LoaderChainGzip
import LoaderChainPlatformFoundation

func influxSendingBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let linesPerBatch = 5_000

    suite.add(
        "influx/gzip-S1", "Compresses 5,000 lines of a service, as one body.",
        bytes: linesPerBatch * ServicePoints.lineLength
    ) {
        let service = ServicePoints()
        var encoder = LineEncoder(precision: .milliseconds)
        for index in 0..<linesPerBatch { service.append(index, to: &encoder) }
        let lines = Data(encoder.bytes)
        let gzip = GzipEncoder()
        return { iterations in
            for _ in 0..<iterations { blackHole(gzip?.compressed(lines)?.count ?? 0) }
        }
    }
    return suite.benchmarks
}
