import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import TestGunzip

@testable import InfluxReporting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A loopback server in the place of an InfluxDB, with a chain that leads to it.
final class InfluxLoopback: Sendable {
    let server: LoopbackServer
    let chain: HTTPLoader = Autocancel() --> URLSessionLoader(configuration: .patient)

    init() throws { server = try LoopbackServer() }

    /// Answers every write with one reply after the other, and then with the last one.
    func answer(_ first: LoopbackReply, _ rest: LoopbackReply...) {
        let script = Locked([first] + rest)
        server.fallback { _ in script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    /// A destination of each interface.
    func destination(_ api: InfluxAPI) throws -> InfluxDestination {
        switch api {
        case .v1: try .influxDB1(server.baseURL, database: "d", authorization: .password("p", user: "u"))
        case .v2: try .influxDB2(server.baseURL, organization: "o", bucket: "b", authorization: .token("t"))
        case .v3: try .influxDB3(server.baseURL, database: "d", authorization: .bearer("t"))
        }
    }

    func sender(_ api: InfluxAPI, _ compression: LineCompression = .off, date: Date = .now) throws -> BatchSender {
        BatchSender(to: try destination(api), through: chain, compression: compression, date: { date })
    }

    /// The lines of each request, in the order of their arrival.
    var received: [[String]] {
        server.requests.map { request in
            let body = request.headers["Content-Encoding"] == "gzip" ? gunzipped(request.body) : request.body
            return String(decoding: body ?? Data("torn".utf8), as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    deinit { server.stop() }
}

extension URLSessionConfiguration {
    /// One that waits for a server as long as a test may take: on a machine with much else to do, a server may be silent
    /// for the usual minute.
    static var patient: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 600
        return configuration
    }
}

extension LoopbackReply {
    /// What InfluxDB 1 says when something is wrong.
    static func influx1(_ status: HTTPStatus, _ error: String) -> Self {
        coded(status, ["error": error]).header(
            "X-Influxdb-Error", String(error.prefix(1_024)).replacing("\n", with: " "))
    }

    /// What InfluxDB 2 says when something is wrong.
    static func influx2(_ status: HTTPStatus, _ code: String, _ message: String) -> Self {
        coded(status, ["code": code, "message": message])
    }

    /// What InfluxDB 3 says when something is wrong with lines.
    static func influx3(
        _ error: String, _ lines: [(number: Int, line: String, reason: String)], status: HTTPStatus = .badRequest
    ) -> Self {
        let data = lines.map { line in
            "{\"original_line\":\(quoted(line.line)),\"line_number\":\(line.number),\"error_message\":\(quoted(line.reason))}"
        }
        return Self(
            status, headers: ["Content-Type": "application/json"],
            body: .bytes(Data("{\"error\":\(quoted(error)),\"data\":[\(data.joined(separator: ","))]}".utf8)))
    }

    private static func coded(_ status: HTTPStatus, _ fields: [String: String]) -> Self {
        let pairs = fields.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\(quoted($0.value))" }
        return Self(
            status, headers: ["Content-Type": "application/json"],
            body: .bytes(Data("{\(pairs.joined(separator: ","))}".utf8)))
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case ..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
