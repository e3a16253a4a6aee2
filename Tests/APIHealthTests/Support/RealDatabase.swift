import Foundation
import LoaderChain
import LoaderChainTerminal
import Testing

/// A database of a real InfluxDB 1, for one test.
struct RealDatabase {
    let name: String
    let address: String
    private let chain = SystemTerminal()

    init(_ name: String) async throws {
        self.name = name
        address = try #require(ProcessInfo.processInfo.environment["INFLUX_V1_URL"])
        _ = try await ask("CREATE DATABASE \(name)")
    }

    func drop() async throws { _ = try await ask("DROP DATABASE \(name)") }

    /// What the answer to a query consists of.
    func ask(_ query: String) async throws -> [Series] {
        var request = HTTPRequest(method: .post, url: try #require(URL(string: address + "/query")))
        request.queryItems = [.init("db", name), .init("q", query)]
        // A busy database takes its time.
        request.timeout = .seconds(600)
        let answer: Answer = try await chain.load(request)
        if let error = answer.results.first?.error { Issue.record("\(error), of: \(query)") }
        return answer.results.first?.series ?? []
    }

    struct Series: Decodable, Sendable {
        var tags: [String: String]?
        var values: [[Cell]]
    }

    /// A time, a name or a number, or nothing.
    struct Cell: Decodable, Sendable {
        let number: Double?
        let text: String?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            number = try? container.decode(Double.self)
            text = number == nil ? try? container.decode(String.self) : nil
        }
    }

    private struct Answer: Decodable, Sendable {
        struct Result: Decodable, Sendable {
            var series: [Series]?
            var error: String?
        }

        var results: [Result]
    }
}
