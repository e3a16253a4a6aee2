import Foundation
import LineProtocol

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A separate database on an InfluxDB 1 server.
struct InfluxServer {
    static let address = ProcessInfo.processInfo.environment["INFLUX_V1_URL"].flatMap(URL.init(string:))

    static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        // Creating a database can take long on a busy machine.
        configuration.timeoutIntervalForRequest = 600
        return URLSession(configuration: configuration)
    }()

    struct Failure: Error { let text: String }

    private let url: URL
    private let database: String

    init(database: String) async throws {
        guard let url = Self.address else { throw Failure(text: "INFLUX_V1_URL is not set") }
        self.url = url
        self.database = database
        try await drop()
        _ = try await query("CREATE DATABASE \(database) WITH DURATION INF")
    }

    func drop() async throws { _ = try await query("DROP DATABASE \(database)") }

    /// Sends lines, and returns the server's error message.
    func write(_ lines: [UInt8], precision: String = "n") async throws -> String {
        let items = [URLQueryItem(name: "db", value: database), URLQueryItem(name: "precision", value: precision)]
        var request = URLRequest(url: url.appending(path: "write").appending(queryItems: items))
        request.httpMethod = "POST"
        request.httpBody = Data(lines)
        let (data, response) = try await Self.session.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return status == 204 ? "" : "\(status) \(String(decoding: data, as: UTF8.self))"
    }

    /// The rows of a query, keyed by the names of the columns.
    func rows(_ query: String) async throws -> [[String: JSONValue]] {
        try await self.query(query).flatMap { series in
            (series.values ?? []).map { Dictionary(zip(series.columns ?? [], $0)) { first, _ in first } }
        }
    }

    /// The server's points of the measurement of `point`, with the tags and the field types of `point`.
    func points(of point: Point) async throws -> [Point] {
        let source = "FROM \(Self.quoted(point.measurement))"
        let tagKeys = Set(try await rows("SHOW TAG KEYS \(source)").compactMap { $0["tagKey"]?.text })
        let types = Dictionary(
            try await rows("SHOW FIELD KEYS \(source)").compactMap { row -> (String, String)? in
                guard let key = row["fieldKey"]?.text, let type = row["fieldType"]?.text else { return nil }
                return (key, type)
            }, uniquingKeysWith: { first, _ in first })
        return try await rows("SELECT *::tag, *::field \(source)").compactMap { row in
            var found = Point(point.measurement, fields: [:])
            if case .integer(let time)? = row["time"] { found.timestamp = .nanoseconds(time) }
            // The order of the result is undefined.
            for field in point.fields { found.fields[field.key] = Self.value(row[field.key], types[field.key]) }
            for (key, value) in row where tagKeys.contains(key) { found.tags[key] = value.text }
            return types.count == point.fields.count ? found : nil
        }
    }

    private static func value(_ value: JSONValue?, _ type: String?) -> FieldValue? {
        switch (type, value) {
        case ("string", .text(let text)?): .string(text)
        case ("float", .double(let number)?): .double(number)
        case ("float", .integer(let number)?): .double(Double(number))
        case ("integer", .integer(let number)?): .integer(number)
        case ("boolean", .boolean(let flag)?): .boolean(flag)
        default: nil
        }
    }

    private func query(_ text: String) async throws -> [Answer.Series] {
        var request = URLRequest(url: url.appending(path: "query"))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let fields = [("db", database), ("epoch", "ns"), ("q", text)]
        request.httpBody = Data(fields.map { "\($0)=\(Self.formEncoded($1))" }.joined(separator: "&").utf8)
        let (data, _) = try await Self.session.data(for: request)
        let answer = try JSONDecoder().decode(Answer.self, from: data)
        if let error = answer.error ?? answer.results?.first?.error {
            throw Failure(text: "\(error): \(text.prefix(200))")
        }
        return (answer.results ?? []).flatMap { $0.series ?? [] }
    }

    private static func formEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain =
                byte < 128 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    private static func quoted(_ name: String) -> String {
        let escaped = name.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        return "\"" + escaped.joined() + "\""
    }
}

/// The response to a query.
private struct Answer: Decodable {
    struct Result: Decodable {
        var series: [Series]?
        var error: String?
    }

    struct Series: Decodable {
        var columns: [String]?
        var values: [[JSONValue]]?
    }

    var results: [Result]?
    var error: String?
}

/// A value in a response, with exact numbers.
enum JSONValue: Decodable {
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    case text(String)
    case nothing

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .double(number)
        } else if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .nothing
        }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }
}
