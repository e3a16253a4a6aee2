import Foundation
import LineProtocol
import TestSizes
import Testing

@testable import InfluxReporting

/// The number of points sent to real servers.
let realServerPoints = testSize("INFLUX_POINTS", usually: 20_000)

/// Points of a shape, by their numbers from 0, one per millisecond.
enum Shape: CaseIterable, Sendable {
    /// Four short tags, a double and an integer, as in a service that reports its requests.
    case service
    /// Ten tags, one of them with something to escape, and ten fields of every type.
    case mixed

    static let firstMillisecond: Int64 = 1_700_000_000_000

    var measurement: String { self == .service ? "APIHealth" : "mixed" }

    func point(_ index: Int) -> Point {
        Point(
            measurement, tags: tags(index), fields: fields(index),
            timestamp: .milliseconds(Self.firstMillisecond + Int64(index)))
    }

    func tags(_ index: Int) -> Tags {
        switch self {
        case .service:
            return [
                "host": Self.host(index), "method": ["GET", "POST", "PUT", "DELETE"][index % 4],
                "path": Self.paths[index / 4 % 8], "status": ["200", "201", "204", "400", "404", "500"][index % 6],
            ]
        case .mixed:
            return Tags(
                (0..<10).map { column in
                    let word = (index + column) % 10
                    return ("t\(column)", column == index % 10 ? Self.specialWords[word] : Self.words[word])
                })
        }
    }

    func fields(_ index: Int) -> Fields {
        Fields(fieldNames.enumerated().map { ($1, value(index, column: $0)) })
    }

    var fieldNames: [String] { self == .service ? ["duration", "bytes"] : (0..<10).map { "f\($0)" } }

    /// The value of the field in a column.
    func value(_ index: Int, column: Int) -> FieldValue {
        switch (self, column) {
        case (.service, 0): .double(Self.duration(index))
        case (.service, _): .integer(Int64(37 * index))
        case (.mixed, 0..<3): .double(Double(index) * 0.37 + 1.25 * Double(column))
        case (.mixed, 3..<6): .integer(Int64(1_001 * index * column))
        case (.mixed, 6..<8): .boolean((index + column).isMultiple(of: 2))
        case (.mixed, _): .string(Self.text(index + column))
        }
    }

    /// The number of points after which the tags repeat.
    var period: Int { self == .service ? 96 : 10 }

    static func host(_ index: Int) -> String { "api-\(index % 8 + 1)" }
    static func duration(_ index: Int) -> Double { Double(index % 100_000) * 1e-7 + 0.0123456 }

    private static let paths = [
        "/v1/users", "/v1/items", "/v1/orders", "/v1/login", "/v1/search", "/v1/cart", "/v1/health", "/v1/feed",
    ]
    private static let words = [
        "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
    ]
    private static let specialWords = [
        "al,pha", "br avo", "char=lie", "del,ta", "ec ho", "fox=trot", "go,lf", "ho tel", "in=dia", "jul,iett",
    ]

    /// A string of 2 to 29 characters, every tenth with a quote or a backslash.
    private static func text(_ index: Int) -> String {
        let text = String("the quick brown fox jumps over the lazy dog".prefix(2 + index % 28))
        if index % 10 != 0 { return text }
        return (index % 20 == 0 ? "\"" : "\\") + text.dropFirst()
    }
}

extension Shape {
    /// The lines of some of the points.
    func batch(_ points: Range<Int>, dialect: LineDialect = .influxDB1) -> LineBatch {
        var encoder = LineEncoder(precision: .milliseconds, dialect: dialect)
        var ends: [Int] = []
        for index in points {
            encoder.append(point(index))
            ends.append(encoder.count)
        }
        let batch = LineBatch(bytes: Data(encoder.bytes), ends: ends, precision: .milliseconds)
        return batch ?? LineBatch(precision: .milliseconds)
    }

    /// The numbers of `count` points, in batches of a writer's size.
    static func batches(of count: Int, size: Int = 5_000) -> [Range<Int>] {
        stride(from: 0, to: count, by: size).map { $0..<min(count, $0 + size) }
    }
}

#if os(Linux) || os(macOS)
    extension RealInflux {
        /// Compares the server's points of a shape with the points that were sent: those from 0 to `count`, except some.
        func expectExactly(_ shape: Shape, _ count: Int, except missing: Set<Int> = []) async throws {
            let total = try await query(
                "SELECT count(\"\(shape == .service ? "bytes" : "f3")\") FROM \"\(shape.measurement)\"")
            #expect(total.last?.last == "\(count - missing.count)")
            for part in Shape.batches(of: count, size: 20_000) {
                let (start, end) = (
                    Shape.firstMillisecond + Int64(part.lowerBound), Shape.firstMillisecond + Int64(part.upperBound)
                )
                let rows = try await query(
                    "SELECT * FROM \"\(shape.measurement)\" WHERE time >= \(start)ms AND time < \(end)ms")
                let names = rows.first ?? []
                let expected = part.filter { !missing.contains($0) }
                guard rows.count - 1 == expected.count else {
                    Issue.record("\(rows.count - 1) rows in place of \(expected.count) from \(part.lowerBound)")
                    return
                }
                for (row, index) in zip(rows.dropFirst(), expected) where !Self.isRow(row, shape.point(index), names) {
                    Issue.record("Point \(index) is \(row), and was \(shape.point(index))")
                    return
                }
            }
        }

        /// Whether a row has exactly the tags, the fields and the time of a point.
        private static func isRow(_ row: [String], _ point: Point, _ names: [String]) -> Bool {
            guard row.count == names.count, names.count == 3 + point.tags.count + point.fields.count else {
                return false
            }
            for (name, text) in zip(names, row).dropFirst(2) {
                if name == "time" {
                    if text != "\(point.timestamp.map { $0.nanoseconds / 1_000_000 } ?? 0)" { return false }
                } else if let tag = point.tags[name] {
                    if text != tag { return false }
                } else {
                    switch point.fields[name] {
                    case .double(let number)?: if Double(text) != number { return false }
                    case .integer(let number)?: if Int64(text) != number { return false }
                    case .boolean(let flag)?: if text != "\(flag)" { return false }
                    case .string(let string)?: if text != string { return false }
                    default: return false
                    }
                }
            }
            return true
        }
    }
#endif
