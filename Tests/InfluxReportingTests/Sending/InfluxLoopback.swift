import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import TestGunzip

@testable import InfluxReporting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A loopback server that stands in for InfluxDB, with a chain to it.
final class InfluxLoopback: Sendable {
    let server: LoopbackServer
    let chain: HTTPLoader = Autocancel() --> URLSessionLoader(configuration: .patient)

    init() throws { server = try LoopbackServer() }

    /// Answers the writes with the replies in order, and further writes with the last reply.
    func answer(_ first: LoopbackReply, _ rest: LoopbackReply...) {
        let script = Locked([first] + rest)
        server.fallback { _ in script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    /// A destination for each API.
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

    /// The lines of each request, in the order in which they were received.
    var received: [[String]] {
        server.requests.map { request in
            let body = request.headers["Content-Encoding"] == "gzip" ? gunzipped(request.body) : request.body
            return String(decoding: body ?? Data("torn".utf8), as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    deinit { server.stop() }
}

extension URLSessionConfiguration {
    /// A configuration with the time limit of a test as its timeout, because on a busy machine the server may not respond within
    /// the default of one minute.
    static var patient: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 600
        return configuration
    }
}

extension LoopbackReply {
    /// An error response of InfluxDB 1.
    static func influx1(_ status: HTTPStatus, _ error: String) -> Self {
        coded(status, ["error": error]).header(
            "X-Influxdb-Error", String(error.prefix(1_024)).replacing("\n", with: " "))
    }

    /// An error response of InfluxDB 2.
    static func influx2(_ status: HTTPStatus, _ code: String, _ message: String) -> Self {
        coded(status, ["code": code, "message": message])
    }

    /// An error response of InfluxDB 3 about lines.
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
