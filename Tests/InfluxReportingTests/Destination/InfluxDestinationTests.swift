import Foundation
import LineProtocol
import LoaderChain
import Testing

@testable import InfluxReporting

@Suite(.timeLimit(.minutes(10))) struct InfluxDestinationTests {
    private static let server = URL(string: "https://influx.example.com:8086")!

    private func request(_ destination: InfluxDestination, _ precision: Precision = .milliseconds) -> HTTPRequest {
        destination.request(writing: LineBody(bytes: Data("m f=1\n".utf8), isCompressed: false), in: precision)
    }

    // MARK: Addresses

    @Test func eachVersionHasItsPathAndItsQuery() throws {
        let first = try InfluxDestination.influxDB1(Self.server, database: "a b&c", retentionPolicy: "one week")
        #expect(
            request(first).url?.absoluteString
                == "https://influx.example.com:8086/write?db=a%20b%26c&rp=one%20week&precision=ms")
        let second = try InfluxDestination.influxDB2(
            Self.server, organization: "acme", bucket: "health", authorization: .token("t"))
        #expect(
            request(second).url?.absoluteString
                == "https://influx.example.com:8086/api/v2/write?org=acme&bucket=health&precision=ms")
        let third = try InfluxDestination.influxDB3(Self.server, database: "health", authorization: .bearer("t"))
        #expect(
            request(third).url?.absoluteString
                == "https://influx.example.com:8086/api/v3/write_lp?db=health&precision=millisecond")
        let strict = try InfluxDestination.influxDB3(
            Self.server, database: "health", authorization: .bearer("t"), acceptsPartial: false, waitsForSync: false)
        #expect(
            request(strict).url?.query() == "db=health&accept_partial=false&no_sync=true&precision=millisecond")
        let metrics = try InfluxDestination.victoriaMetrics(Self.server)
        #expect(request(metrics).url?.absoluteString == "https://influx.example.com:8086/api/v2/write?precision=ms")
        #expect(metrics.lineDialect == .portable)
    }

    @Test func customDestinationKeepsPathAndQuery() throws {
        let url = try #require(URL(string: "https://cloud.example.com/api/v1/write?bucket=b%2F1"))
        let destination = try InfluxDestination.custom(url, like: .v2, authorization: .token("secret"))
        #expect(
            request(destination).url?.absoluteString
                == "https://cloud.example.com/api/v1/write?bucket=b/1&precision=ms")
        #expect(request(destination).headers["Authorization"] == "Token secret")
    }

    @Test(arguments: ["", "/", "/gate/influx", "/gate/influx/"]) func writePathFollowsBasePath(_ path: String) throws {
        let url = try #require(URL(string: "https://example.com" + path))
        let destination = try InfluxDestination.influxDB1(url, database: "d")
        let expected = path.hasSuffix("/") ? path + "write" : path + "/write"
        #expect(request(destination).path == expected)
    }

    @Test func precisionNamesDependOnVersion() throws {
        let names: [InfluxAPI: [String]] = [
            .v1: ["n", "u", "ms", "s"], .v2: ["ns", "us", "ms", "s"],
            .v3: ["nanosecond", "microsecond", "millisecond", "second"],
        ]
        for (api, expected) in names {
            let destination = try InfluxDestination.custom(Self.server, like: api)
            let found = [Precision.nanoseconds, .microseconds, .milliseconds, .seconds].map {
                request(destination, $0).queryItems.last?.value
            }
            #expect(found == expected)
        }
    }

    @Test func writeRequestIsUnmeasuredAndRepeatable() throws {
        let request = request(try .influxDB1(Self.server, database: "d"))
        #expect(request.method == .post)
        #expect(request.measurement == .never)
        #expect(request.isRepeatable)
        #expect(request.responseCheck == .nothing)
    }

    // MARK: Credentials

    @Test func credentialsAreSentInHeaderOrQuery() throws {
        func signed(_ authorization: InfluxAuthorization) throws -> HTTPRequest {
            request(try .influxDB1(Self.server, database: "d", authorization: authorization))
        }
        #expect(try signed(.none).headers["Authorization"] == nil)
        #expect(
            try signed(.password("pass:word", user: "zoë")).headers["Authorization"] == "Basic em/DqzpwYXNzOndvcmQ=")
        #expect(try signed(.token("user:pass")).headers["Authorization"] == "Token user:pass")
        #expect(try signed(.bearer("a.b.c")).headers["Authorization"] == "Bearer a.b.c")
        #expect(try signed(.header("X-Api-Key", "k")).headers["X-Api-Key"] == "k")
        let query = try signed(.passwordInQuery("p&w", user: "u v")).queryItems
        #expect(query.first { $0.name == "u" }?.value == "u v")
        #expect(query.first { $0.name == "p" }?.value == "p&w")
    }

    @Test(arguments: [
        InfluxAuthorization.password("hunter2", user: "zoe-the-writer"),
        .passwordInQuery("hunter2", user: "zoe-the-writer"),
        .token("hunter2"), .bearer("hunter2"), .header("X-Api-Key", "hunter2"),
    ])
    func descriptionsDoNotShowSecrets(_ authorization: InfluxAuthorization) throws {
        let destination = try InfluxDestination.custom(
            #require(URL(string: "https://example.com/write?key=hunter2")), like: .v1, authorization: authorization)
        var dumped = ""
        dump(destination, to: &dumped)
        dump(authorization, to: &dumped)
        let request = request(destination)
        dump(request, to: &dumped)
        let texts = [
            dumped, "\(destination)", String(reflecting: destination), "\(authorization)",
            String(reflecting: authorization), "\(request)",
        ]
        for text in texts {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("zoe-the-writer"))
        }
    }

    @Test func descriptionShowsDatabaseAndAddress() throws {
        #expect(
            "\(try InfluxDestination.influxDB1(Self.server, database: "d"))"
                == "database d at https://influx.example.com:8086/write")
        let custom = try InfluxDestination.custom(Self.server.appending(path: "x"), like: .v1)
        #expect("\(custom)" == "https://influx.example.com:8086/x")
    }

    // MARK: Invalid destinations

    @Test func invalidDestinationErrorNamesPart() throws {
        func problem(_ make: () throws(InfluxDestinationError) -> InfluxDestination) -> InfluxDestinationError? {
            do throws(InfluxDestinationError) {
                _ = try make()
                return nil
            } catch {
                return error
            }
        }
        let server = Self.server
        let names: [(InfluxDestinationError.Code, InfluxDestinationError?)] = [
            (.database, problem { () throws(InfluxDestinationError) in try .influxDB1(server, database: "") }),
            (.database, problem { () throws(InfluxDestinationError) in try .influxDB1(server, database: "a\nb") }),
            (
                .retentionPolicy,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", retentionPolicy: "")
                }
            ),
            (
                .organization,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB2(server, organization: "", bucket: "b", authorization: .none)
                }
            ),
            (
                .bucket,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB2(server, organization: "o", bucket: "\u{7F}", authorization: .none)
                }
            ),
            (
                .database,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB3(server, database: "\0", authorization: .none)
                }
            ),
            (
                .token,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .token("hunter2\n"))
                }
            ),
            (
                .token,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .bearer(""))
                }
            ),
            (
                .token,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .bearer(" hunter2"))
                }
            ),
            (
                .header,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .header("X Key", "hunter2"))
                }
            ),
            (
                .header,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .header("X-Anything", "hunter2"))
                }
            ),
            (
                .user,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .password("hunter2", user: "a:b"))
                }
            ),
            (
                .user,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .passwordInQuery("hunter2", user: ""))
                }
            ),
            (
                .password,
                problem { () throws(InfluxDestinationError) in
                    try .influxDB1(server, database: "d", authorization: .password("hunter2\r", user: "a"))
                }
            ),
        ]
        for (part, error) in names {
            #expect(error?.code == part)
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test(arguments: [
        "", "/write", "influx.example.com", "ftp://example.com", "file:///tmp", "https://", "https:///write",
        "https://zoe:hunter2@example.com", "https://example.com?db=hunter2", "https://example.com/#hunter2",
        "https://example.com/write", "https://example.com/gate/api/v2/write", "https://example.com/api/v3/write_lp/",
    ])
    func invalidAddressIsRejected(_ text: String) throws {
        guard let url = URL(string: text) else { return }
        do {
            _ = try InfluxDestination.influxDB1(url, database: "d")
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.code == .address)
            #expect(!error.description.contains("hunter2"))
        }
    }

    @Test func customAddressWithPrecisionIsRejected() throws {
        let url = try #require(URL(string: "https://example.com/api/v1/write?bucket=b&precision=ms"))
        #expect(throws: InfluxDestinationError.self) { try InfluxDestination.custom(url, like: .v2) }
    }
}
