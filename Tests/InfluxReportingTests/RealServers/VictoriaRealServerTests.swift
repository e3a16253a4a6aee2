import Foundation
import LineProtocol
import LoaderChain
import LoaderChainTerminal
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting

private let address = ProcessInfo.processInfo.environment["VICTORIA_URL"].flatMap(URL.init(string:))

/// Batches written to VictoriaMetrics, through the path of InfluxDB 2.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: address != nil, "VICTORIA_URL is not set; run this under Tests/servers.sh"))
struct VictoriaRealServerTests {
    private let chain: HTTPLoader = ModifyRequest { $0.timeout = .seconds(300) } --> SystemTerminal()

    /// An exported series; an export has one per line.
    private struct Series: Decodable {
        let metric: [String: String]
        let values: [Double]
        let timestamps: [Int64]
    }

    @Test(arguments: Shape.allCases, [LineCompression.off, .gzip()])
    func everyNumberArrives(_ shape: Shape, _ compression: LineCompression) async throws {
        let url = try #require(address)
        let destination = try InfluxDestination.victoriaMetrics(url)
        let sender = BatchSender(to: destination, through: chain, compression: compression)
        // A unique label, because the server still has the points of other tests.
        let run = "run\(UInt32.random(in: 0...UInt32.max))"
        for part in Shape.batches(of: realServerPoints) {
            var encoder = LineEncoder(
                precision: .milliseconds, defaults: ["run": run], dialect: destination.lineDialect)
            var ends: [Int] = []
            for index in part {
                encoder.append(shape.point(index))
                ends.append(encoder.count)
            }
            let lines = try #require(
                LineBatch(bytes: Data(encoder.bytes), ends: ends, precision: .milliseconds))
            let outcome = await sender.send(lines)
            #expect(outcome.deliveredCount == part.count && outcome.requests == 1)
        }
        for column in shape.fieldNames.indices { try await expectAll(shape, column, run, url) }
    }

    /// Expects a value for each point of a field, with the tags, the time and the number that were sent.
    private func expectAll(_ shape: Shape, _ column: Int, _ run: String, _ url: URL) async throws {
        let field = shape.fieldNames[column]
        let tags = (0..<shape.period).map(shape.tags)
        var request = HTTPRequest(url: url.appending(path: "api/v1/export"))
        request.queryItems = [
            HTTPQueryItem("match[]", "{__name__=\"\(shape.measurement)_\(field)\",run=\"\(run)\"}"),
            HTTPQueryItem("start", "1"),
        ]
        var seen = 0
        for series in try await exported(by: request, url) {
            // The points with the tags of this series.
            var isTagged: Set<Int> = []
            for (value, time) in zip(series.values, series.timestamps) {
                let index = Int(time - Shape.firstMillisecond)
                guard (0..<realServerPoints).contains(index) else {
                    return void(Issue.record("\(time) is not the time of a point"))
                }
                let number = index % shape.period
                if !isTagged.contains(number) {
                    guard tags[number].allSatisfy({ series.metric[$0.key] == $0.value }) else {
                        return void(Issue.record("\(field) of \(index) is of \(series.metric)"))
                    }
                    isTagged.insert(number)
                }
                guard Self.isNear(value, shape.value(index, column: column)) else {
                    return void(Issue.record("\(field) of \(index) is \(value)"))
                }
                seen += 1
            }
        }
        #expect(seen == realServerPoints)
    }

    /// Exports until all points are there: after a flush, some series become visible a moment later.
    private func exported(by request: HTTPRequest, _ url: URL) async throws -> [Series] {
        var all: [Series] = []
        try await eventually("an export has all points") {
            _ = try await chain.load(HTTPRequest(url: url.appending(path: "internal/force_flush")))
            let response = try await chain.load(request)
            #expect(response.status == .ok)
            all = try response.body.split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(Series.self, from: $0)
            }
            return all.reduce(0) { $0 + $1.values.count } >= realServerPoints
        }
        return all
    }

    /// Whether a number is the server's representation of a value: true is 1, and strings are not stored.
    private static func isNear(_ number: Double, _ value: FieldValue) -> Bool {
        switch value {
        case .double(let sent): abs(number - sent) <= 1e-12 * max(1, abs(sent))
        case .integer(let sent): abs(number - Double(sent)) <= 1e-12 * max(1, abs(Double(sent)))
        case .boolean(let sent): number == (sent ? 1 : 0)
        case .string: number == 0
        default: false
        }
    }

    private func void(_ value: some Any) {}
}
