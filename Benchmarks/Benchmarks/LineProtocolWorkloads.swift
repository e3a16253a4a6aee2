import LineProtocol

/// Points like those of a service that reports its requests: four short tags, a double, an integer and milliseconds.
enum ServicePoints {
    static let hosts = (1...8).map { "api-\($0)" }
    static let methods = ["GET", "POST", "PUT", "DELETE"]
    static let paths = [
        "/v1/users", "/v1/items", "/v1/orders", "/v1/login", "/v1/search", "/v1/cart", "/v1/health", "/v1/feed",
    ]
    static let statuses = ["200", "201", "204", "400", "404", "500"]
    /// After so many points the tags come again.
    static let period = 96
    /// How many bytes a line has, about.
    static let lineLength = 109

    static func host(_ index: Int) -> String { hosts[index & 7] }
    static func method(_ index: Int) -> String { methods[index & 3] }
    static func path(_ index: Int) -> String { paths[(index >> 2) & 7] }
    static func status(_ index: Int) -> String { statuses[index % 6] }
    static func duration(_ index: Int) -> Double { Double(index % 100_000) * 1e-7 + 0.0123456 }
    static func bytes(_ index: Int) -> Int { 37 &* index }
    static func timestamp(_ index: Int) -> Timestamp { .milliseconds(1_700_000_000_000 &+ Int64(index)) }

    static func tags(_ index: Int) -> Tags {
        ["host": host(index), "method": method(index), "path": path(index), "status": status(index)]
    }

    static func point(_ index: Int) -> Point {
        Point(
            "APIHealth", tags: tags(index),
            fields: ["duration": .double(duration(index)), "bytes": .integer(Int64(bytes(index)))],
            timestamp: timestamp(index))
    }

    static func append(_ index: Int, to encoder: inout LineEncoder) {
        encoder.append("APIHealth", timestamp: timestamp(index)) { tags in
            tags.set("host", host(index))
            tags.set("method", method(index))
            tags.set("path", path(index))
            tags.set("status", status(index))
        } fields: { fields in
            fields.set("duration", duration(index))
            fields.set("bytes", bytes(index))
        }
    }
}

/// Wider points: ten tags, one of them with a byte to escape, and ten fields of every type.
enum MixedPoints {
    static let words = [
        "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
    ]
    static let specialWords = [
        "al,pha", "br avo", "char=lie", "del,ta", "ec ho", "fox=trot", "go,lf", "ho tel", "in=dia", "jul,iett",
    ]
    static let tagKeys = (0..<10).map { "t\($0)" }
    static let fieldKeys = (0..<10).map { "f\($0)" }
    /// Strings of 2 to 29 characters, every tenth with a quote or a backslash.
    static let strings = (0..<280).map { index in
        let length = 2 + index % 28
        var text = String(String(repeating: "the quick brown fox jumps ", count: 2).prefix(length))
        if index % 10 == 0 {
            text.replaceSubrange(text.startIndex...text.startIndex, with: index % 20 == 0 ? "\"" : "\\")
        }
        return text
    }
    static let lineLength = 254

    static func tag(_ index: Int, _ column: Int) -> String {
        let word = (index &+ column) % 10
        return column == index % 10 ? specialWords[word] : words[word]
    }

    static func append(_ index: Int, to encoder: inout LineEncoder) {
        encoder.append("mixed", timestamp: ServicePoints.timestamp(index)) { tags in
            for column in 0..<10 { tags.set(tagKeys[column], tag(index, column)) }
        } fields: { fields in
            for column in 0..<3 {
                fields.set(fieldKeys[column], Double(index) * 0.37 + 1.25 * Double(column))
            }
            for column in 3..<6 { fields.set(fieldKeys[column], 1_001 &* index &* column) }
            for column in 6..<8 { fields.set(fieldKeys[column], (index &+ column) & 1 == 0) }
            for column in 8..<10 { fields.set(fieldKeys[column], strings[(index &+ column) % 280]) }
        }
    }
}
