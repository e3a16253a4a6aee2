/// How many requests are under way, by method and server, in a bounded number of rows.
final class ActiveRequests: Sendable {
    /// The row that a request is counted in, which stays the same when loaders below rewrite the request.
    struct Place: Sendable {
        fileprivate let row: Int
    }

    private struct Key: Hashable {
        var method: HTTPMethod
        let scheme: String
        let host: String
        let port: Int?
    }

    /// The first rows stay; what comes beyond them is counted in one more.
    private struct Table {
        var places: [Key: Int] = [:]
        var counts: [Int] = []
        var others = 0
    }

    private static let mostRows = 200
    private let table = Locked(Table())

    /// Counts a request that begins.
    func begin(_ request: HTTPRequest) -> Place {
        var key = Key(
            method: request.method, scheme: request.scheme, host: request.hostInMetrics, port: request.portInMetrics)
        return table.withLock { table in
            var row = table.places[key]
            if row == nil {
                // Methods that are not well known share a row.
                key.method = HTTPMethod(ClientAttributes.method(key.method))
                row = table.places[key]
            }
            if let row {
                table.counts[row] += 1
                return Place(row: row)
            }
            guard table.counts.count < Self.mostRows else {
                table.others += 1
                return Place(row: Self.mostRows)
            }
            table.places[key] = table.counts.count
            table.counts.append(1)
            return Place(row: table.counts.count - 1)
        }
    }

    /// Counts a request no more.
    func end(_ place: Place) {
        table.withLock { table in
            if place.row < Self.mostRows { table.counts[place.row] -= 1 } else { table.others -= 1 }
        }
    }

    /// The rows, also those that have come down to zero.
    var readings: [LoaderReading] {
        let table = table.withLock { $0 }
        let rows = table.places.map { key, row in
            var attributes = [
                "http.request.method": key.method.rawValue, "server.address": key.host, "url.scheme": key.scheme,
            ]
            if let port = key.port { attributes["server.port"] = "\(port)" }
            return Self.reading(table.counts[row], attributes)
        }
        let others =
            table.counts.count < Self.mostRows ? [] : [Self.reading(table.others, ["otel.metric.overflow": "true"])]
        return rows.sorted { $0.description < $1.description } + others
    }

    private static func reading(_ count: Int, _ attributes: [String: String]) -> LoaderReading {
        LoaderReading(
            "http.client.active_requests", .level, count, unit: "{request}", help: "How many requests are under way",
            attributes: attributes)
    }
}
