import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import InfluxReporting

/// The complete path: a request, a tap, a writer, a chain, and a server.
@Suite(.timeLimit(.minutes(10))) struct TapToWriterTests {
    @Test func requestBecomesPointButItsWriteDoesNot() async throws {
        let bodies = Locked<[String]>([])
        let server = ScriptedTerminal { request in
            guard request.path.hasSuffix("/write") else { return .success() }
            var reader = try? request.encoded().content.makeReader()
            let body = try? reader?.read(upTo: 100_000)
            bodies.withLock { $0.append(String(decoding: body ?? Data(), as: UTF8.self)) }
            return .success(.noContent)
        }
        let url = try #require(URL(string: "http://influx.example.com"))
        var settings = WriterSettings()
        settings.timers = ManualTimers()
        // The writer's own chain contains a tap that reports to it.
        let recorder = Locked<MetricRecorder?>(nil)
        let late = ClosureSink(isImmediate: true) { record in
            if case .request(let metric) = record { recorder.withLock { $0 }?.event("seen \(metric.host)") }
        }
        let writer = InfluxWriter(
            destination: try .influxDB1(url, database: "health"), chain: MetricsTap(late) --> server, settings: settings
        )
        recorder.withLock { $0 = MetricRecorder(writer) }
        let chain = MetricsTap(writer, module: "shop") --> server
        _ = try await chain.load(HTTPRequest(host: "api.example.com", path: "/users/17"))
        #expect(await writer.flush().delivered == 1)
        #expect(await writer.flush().delivered == 0)
        let lines = bodies.withLock { $0 }
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix(
                "APIHealth,host=api.example.com,method=GET,module=shop,outcome=success,path=/users/{id},") == true)
        recorder.withLock { $0 = nil }
    }

    @Test func rejectedLineIsInFlushReport() async throws {
        let server = ScriptedTerminal { _ in
            .success(.badRequest, body: #"{"error":"partial write: unable to parse 'm i=2i 2': no dropped=0"}"#)
        }
        let url = try #require(URL(string: "http://influx.example.com"))
        var settings = WriterSettings()
        settings.timers = ManualTimers()
        let writer = InfluxWriter(
            destination: try .influxDB1(url, database: "health"), chain: HTTPLoader() --> server, settings: settings)
        for number in 1...3 {
            writer.write(
                Point("m", fields: ["i": .integer(Int64(number))], timestamp: Timestamp(nanoseconds: Int64(number))))
        }
        let report = await writer.flush()
        #expect(report.delivered == 2 && report.rejected == 1)
        #expect(report.rejections.first?.line == "m i=2i 2")
        #expect(writer.statistics.addsUp)
    }
}
