import Foundation
import LineProtocol
import LoaderChain

@testable import InfluxReporting

/// A batch of the given lines.
func batch(_ lines: [String], _ precision: Precision = .milliseconds) -> LineBatch {
    let ends = lines.reduce(into: [Int]()) { $0.append(($0.last ?? 0) + $1.utf8.count + 1) }
    let bytes = Data(lines.map { $0 + "\n" }.joined().utf8)
    return LineBatch(bytes: bytes, ends: ends, precision: precision) ?? LineBatch(precision: precision)
}

/// The given number of valid lines.
func goodLines(_ count: Int) -> [String] { (0..<count).map { "m,host=api-\($0 % 8) f=\($0)i \($0)" } }

/// The response of a server to a request.
func response(_ status: HTTPStatus, _ body: String = "", headers: HTTPHeaders = [:]) -> HTTPResponse {
    var request = HTTPRequest(method: .post, host: "influx.example.com", path: "/write")
    request.measurement = .never
    return HTTPResponse(request: request, status: status, headers: headers, body: Data(body.utf8))
}
