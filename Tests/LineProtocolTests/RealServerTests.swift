import Foundation
import LineProtocol
import TestSizes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Lines written to real servers: run by `Tests/servers.sh`, which starts them, and skipped without it.
@Suite(
    .timeLimit(.minutes(10)),
    .serialized,
    .enabled(if: InfluxServer.address != nil, "INFLUX_V1_URL is not set; run this under Tests/servers.sh"))
struct LineProtocolRealServerTests {
    /// A query returns the point that a row of the policy specifies.
    @Test func everyPolicyRowIsStoredAsSpecified() async throws {
        let server = try await InfluxServer(database: "policy_rows")
        for (number, row) in PolicyRow.all.enumerated() {
            // A separate measurement for each row that is not about measurements.
            var point = row.point
            if point.measurement == "m" { point.measurement = "m\(number)" }
            var encoder = LineEncoder(dialect: row.dialect)
            encoder.append(point)
            guard row.line != nil else {
                #expect(encoder.isEmpty)
                continue
            }
            #expect(try await server.write(encoder.bytes) == "", "\(row.name)")
            let expected = try #require(try decoded(encoder.bytes).first)
            let stored = try await server.points(of: expected)
            #expect(stored == [expected], "\(row.name)")
        }
        try await server.drop()
    }

    /// Difficult points, each sent alone, so that none can hide the failure of another.
    @Test func randomPointsAreStoredAsDecoded() async throws {
        let server = try await InfluxServer(database: "random_points")
        var maker = PointMaker(seed: 71)
        for number in 0..<testSize("LINE_SERVER_POINTS", usually: 150) {
            var point = maker.point()
            point.measurement += "\(number)"
            point.timestamp = .nanoseconds(1_700_000_000_000_000_000 + Int64(number))
            var encoder = LineEncoder(dialect: .influxDB1)
            guard encoder.append(point) else { continue }
            #expect(try await server.write(encoder.bytes) == "", "\(encoder.text)")
            let expected = try #require(try decoded(encoder.bytes).first)
            #expect(try await server.points(of: expected) == [expected], "\(encoder.text)")
        }
        try await server.drop()
    }

    @Test func decoderAgreesWithServerOnSyntaxTable() async throws {
        let server = try await InfluxServer(database: "syntax")
        for (number, row) in SyntaxTable.taken.enumerated() {
            // Fields with the same name and different types would conflict.
            let name = row.point.measurement
            let line = row.line.replacing("m", with: "m\(number)", maxReplacements: 1)
            #expect(try await server.write(Array(line.utf8)) == "", "\(line.debugDescription)")
            guard name == "m", row.point.fields.count == 1, row.point.timestamp == nil else { continue }
            let stored = try await server.rows("SELECT * FROM \"m\(number)\"")
            #expect(stored.count == 1, "\(line.debugDescription)")
        }
        for (number, row) in SyntaxTable.refused.enumerated() {
            let line = row.line.replacing("m", with: "r\(number)", maxReplacements: 1)
            #expect(try await server.write(Array(line.utf8)) != "", "\(line.prefix(80).debugDescription)")
        }
        try await server.drop()
    }

    @Test(arguments: [(Precision.nanoseconds, "n"), (.microseconds, "u"), (.milliseconds, "ms"), (.seconds, "s")])
    func timestampsArriveInTheirPrecision(_ precision: Precision, _ name: String) async throws {
        let server = try await InfluxServer(database: "precision_\(name)")
        var encoder = LineEncoder(precision: precision)
        let times: [Timestamp] = [.earliest, .seconds(-1), .nanoseconds(0), .seconds(1_700_000_000), .latest]
        for (number, time) in times.enumerated() {
            encoder.append(Point("m\(number)", fields: ["f": 1], timestamp: time))
        }
        #expect(try await server.write(encoder.bytes, precision: name) == "")
        let read = try decoded(encoder.bytes, precision)
        for point in read { #expect(try await server.points(of: point) == [point]) }
        try await server.drop()
    }

    /// Strings have no newlines for a server that ends lines at every newline.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["VICTORIA_URL"] != nil, "VICTORIA_URL is not set"))
    func newlineInStringStartsNoLineInVictoriaMetrics() async throws {
        let address = try #require(ProcessInfo.processInfo.environment["VICTORIA_URL"].flatMap(URL.init(string:)))
        let name = "injected_\(UInt32.random(in: 0...UInt32.max))"
        var encoder = LineEncoder(precision: .milliseconds)
        let now = Timestamp(Date.now.timeIntervalSince1970.rounded(), .seconds)
        encoder.append(Point("safe_\(name)", fields: ["f": 1.5, "text": "a\n\(name) f=1\n"], timestamp: now))
        var write = URLRequest(
            url: address.appending(path: "write").appending(queryItems: [.init(name: "precision", value: "ms")]))
        write.httpMethod = "POST"
        write.httpBody = Data(encoder.bytes)
        let answer = try await InfluxServer.session.data(for: write)
        #expect((answer.1 as? HTTPURLResponse)?.statusCode == 204)
        let query = address.appending(path: "api/v1/series").appending(
            queryItems: [
                .init(name: "match[]", value: "{__name__=~\".*\(name).*\"}"), .init(name: "start", value: "1"),
            ])
        // After a flush, some of the new points become visible a moment later.
        var found = ""
        repeat {
            try Task.checkCancellation()
            _ = try await InfluxServer.session.data(from: address.appending(path: "internal/force_flush"))
            found = String(decoding: try await InfluxServer.session.data(from: query).0, as: UTF8.self)
        } while !found.contains("safe_\(name)_f")
        #expect(!found.contains("\"\(name)_f"))
    }
}

extension Timestamp {
    fileprivate init(_ count: Double, _ precision: Precision) { self.init(Int64(count), precision) }
}
