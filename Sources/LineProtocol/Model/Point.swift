// Model: points and their parts, what of them cannot be encoded, and what becomes of that. Depends on no other folder; all may use it.

/// One measurement at one moment: what becomes a line.
///
/// ```swift
/// let point = Point(
///     "APIHealth", tags: ["host": "api-1", "status": "200"], fields: ["duration": 0.25, "bytes": 512],
///     timestamp: .milliseconds(1_700_000_000_000))
/// print(point)  // APIHealth,host=api-1,status=200 duration=0.25,bytes=512i 1700000000000000000
/// ```
///
/// The measurement and the tags are the *series* that the point belongs to; servers index them, so their values should be
/// few. Give every point a timestamp: two points with the same series and time are the same point to a server, which is
/// what makes it safe to send one again.
public struct Point: Sendable, Hashable, Codable {
    /// What is measured, such as the name of a table.
    public var measurement: String
    /// The tags, which tell series apart.
    public var tags: Tags
    /// The fields; there must be at least one.
    public var fields: Fields
    /// The time; without it, the server uses the time of arrival.
    public var timestamp: Timestamp?

    /// Makes a point.
    public init(_ measurement: String, tags: Tags = [:], fields: Fields, timestamp: Timestamp? = nil) {
        self.measurement = measurement
        self.tags = tags
        self.fields = fields
        self.timestamp = timestamp
    }
}

/// The tags of a point: keys with their values, in the byte order of the keys, each key once.
///
/// ```swift
/// var tags: Tags = ["status": "200", "host": "api-1"]
/// tags["region"] = "eu"
/// tags["status"] = nil
/// print(tags)  // host=api-1,region=eu
/// ```
public struct Tags: Sendable, Hashable {
    /// A tag.
    public struct Element: Sendable, Hashable {
        /// The key of the tag.
        public let key: String
        /// The value of the tag.
        public let value: String
    }

    private(set) var elements: [Element] = []

    /// No tags.
    public init() {}

    /// Makes tags from keys and values; the later of two values for a key wins.
    public init(_ tags: some Sequence<(String, String)>) {
        for (key, value) in tags { self[key] = value }
    }

    /// Makes tags from a dictionary.
    public init(_ tags: [String: String]) {
        for (key, value) in tags { self[key] = value }
    }

    mutating func reserve(_ count: Int) { elements.reserveCapacity(count) }

    /// The value of a tag; nil if there is none with this key.
    ///
    /// Keys are compared by their bytes, as servers do.
    public subscript(key: String) -> String? {
        get {
            let index = position(of: key)
            return isKey(key, at: index) ? elements[index].value : nil
        }
        set {
            let index = position(of: key)
            switch (isKey(key, at: index), newValue) {
            case (true, let value?): elements[index] = Element(key: key, value: value)
            case (true, nil): elements.remove(at: index)
            case (false, let value?): elements.insert(Element(key: key, value: value), at: index)
            case (false, nil): break  // There is nothing to take away.
            }
        }
    }

    /// Adds tags; those that are here already win.
    public mutating func addDefaults(_ defaults: Tags) {
        for tag in defaults where self[tag.key] == nil { self[tag.key] = tag.value }
    }

    private func isKey(_ key: String, at index: Int) -> Bool {
        index < elements.count && key.utf8.elementsEqual(elements[index].key.utf8)
    }

    /// Where a key is, or would be.
    private func position(of key: String) -> Int {
        // Keys mostly come in order.
        guard let last = elements.last, !Self.precedes(last.key, key) else { return elements.count }
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(elements[middle].key, key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func precedes(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }
}

extension Tags: RandomAccessCollection {
    /// Where the tags begin.
    public var startIndex: Int { 0 }

    /// Where the tags end.
    public var endIndex: Int { elements.count }

    /// The tag at a position in byte order.
    public subscript(position: Int) -> Element { elements[position] }
}

extension Tags: ExpressibleByDictionaryLiteral {
    /// Makes tags from keys and values; the later of two values for a key wins.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

extension Tags: CustomStringConvertible {
    /// The tags as `key=value`, without escapes.
    public var description: String { map { "\($0.key)=\($0.value)" }.joined(separator: ",") }
}

extension Tags: Codable {
    /// Reads an object of strings.
    public init(from decoder: any Decoder) throws { self.init(try [String: String](from: decoder)) }

    /// Writes an object of strings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for tag in elements { try container.encode(tag.value, forKey: AnyKey(tag.key)) }
    }
}

struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
