import LineProtocol

/// Strings that are never released, so that reading one costs next to nothing.
private func kept(_ words: [String]) -> UnsafePointer<String> {
    let all = UnsafeMutablePointer<String>.allocate(capacity: words.count)
    all.initialize(from: words, count: words.count)
    return UnsafePointer(all)
}

/// Points like those of a service that measures its requests: four short tags, a double, an integer and milliseconds.
struct ServicePoints: @unchecked Sendable {
    private let hosts = kept((1...8).map { "api-\($0)" })
    private let methods = kept(["GET", "POST", "PUT", "DELETE"])
    private let paths = kept([
        "/v1/users", "/v1/items", "/v1/orders", "/v1/login", "/v1/search", "/v1/cart", "/v1/health", "/v1/feed",
    ])
    private let statuses = kept(["200", "201", "204", "400", "404", "500"])
    /// After this many points the tags repeat.
    static let period = 96
    /// The approximate length of a line in bytes.
    static let lineLength = 109

    func host(_ index: Int) -> String { hosts[index & 7] }
    func method(_ index: Int) -> String { methods[index & 3] }
    func path(_ index: Int) -> String { paths[(index >> 2) & 7] }
    func status(_ index: Int) -> String { statuses[index % 6] }
    func duration(_ index: Int) -> Double { Double(index % 100_000) * 1e-7 + 0.0123456 }
    func bytes(_ index: Int) -> Int { 37 &* index }
    func timestamp(_ index: Int) -> Timestamp { .milliseconds(1_700_000_000_000 &+ Int64(index)) }

    func tags(_ index: Int) -> Tags {
        ["host": host(index), "method": method(index), "path": path(index), "status": status(index)]
    }

    func point(_ index: Int) -> Point {
        Point(
            "APIHealth", tags: tags(index),
            fields: ["duration": .double(duration(index)), "bytes": .integer(Int64(bytes(index)))],
            timestamp: timestamp(index))
    }

    func append(_ index: Int, to encoder: inout LineEncoder) {
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
struct MixedPoints: @unchecked Sendable {
    private let service = ServicePoints()
    private let words = kept([
        "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
    ])
    private let specialWords = kept([
        "al,pha", "br avo", "char=lie", "del,ta", "ec ho", "fox=trot", "go,lf", "ho tel", "in=dia", "jul,iett",
    ])
    private let tagKeys = kept((0..<10).map { "t\($0)" })
    private let fieldKeys = kept((0..<10).map { "f\($0)" })
    /// Strings of 2 to 29 characters, every tenth with a quote or a backslash.
    private let strings = kept(
        (0..<280).map { index in
            let length = 2 + index % 28
            var text = String(String(repeating: "the quick brown fox jumps ", count: 2).prefix(length))
            if index % 10 == 0 {
                text.replaceSubrange(text.startIndex...text.startIndex, with: index % 20 == 0 ? "\"" : "\\")
            }
            return text
        })
    static let lineLength = 254

    func tag(_ index: Int, _ column: Int) -> String {
        let word = (index &+ column) % 10
        return column == index % 10 ? specialWords[word] : words[word]
    }

    func append(_ index: Int, to encoder: inout LineEncoder) {
        encoder.append("mixed", timestamp: service.timestamp(index)) { tags in
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
