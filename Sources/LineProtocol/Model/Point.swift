// Model: points and their parts, and the problems and repairs of encoding them. Depends on no other folder; all may use it.

/// A measurement at a point in time, which is encoded as a line.
///
/// ```swift
/// let point = Point(
///     "APIHealth", tags: ["host": "api-1", "status": "200"], fields: ["duration": 0.25, "bytes": 512],
///     timestamp: .milliseconds(1_700_000_000_000))
/// print(point)  // APIHealth,host=api-1,status=200 duration=0.25,bytes=512i 1700000000000000000
/// ```
///
/// The measurement and the tags are the *series* that the point belongs to; servers index them, so they should have few values.
/// Give every point a timestamp: to a server, two points with the same series and time are one point, so sending a point again is
/// safe.
public struct Point: Sendable, Hashable {
    /// The name of the measurement, which corresponds to a table.
    public var measurement: String
    /// The tags, which distinguish series.
    public var tags: Tags
    /// The fields; a point needs at least one.
    public var fields: Fields
    /// The time; without it, the server uses the time at which it receives the point.
    public var timestamp: Timestamp?

    /// Creates a point.
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

    /// Creates empty tags.
    public init() {}

    /// Creates tags from keys and values; the later of two values for a key wins.
    public init(_ tags: some Sequence<(String, String)>) {
        for (key, value) in tags { self[key] = value }
    }

    /// Creates tags from a dictionary.
    public init(_ tags: [String: String]) {
        for (key, value) in tags { self[key] = value }
    }

    mutating func reserve(_ count: Int) { elements.reserveCapacity(count) }

    /// The value of a tag; nil if there is no tag with this key.
    ///
    /// Keys are compared byte by byte, as servers do.
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
            case (false, nil): break  // There is nothing to remove.
            }
        }
    }

    private func isKey(_ key: String, at index: Int) -> Bool {
        index < elements.count && key.utf8.elementsEqual(elements[index].key.utf8)
    }

    /// The index of a key, or the index at which it would be inserted.
    private func position(of key: String) -> Int {
        // Keys are mostly set in order.
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
    /// The index of the first tag.
    public var startIndex: Int { 0 }

    /// The index after the last tag.
    public var endIndex: Int { elements.count }

    /// The tag at an index, in the byte order of the keys.
    public subscript(position: Int) -> Element { elements[position] }
}

extension Tags: ExpressibleByDictionaryLiteral {
    /// Creates tags from keys and values; the later of two values for a key wins.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

extension Tags: CustomStringConvertible {
    /// The tags as `key=value`, without escapes.
    public var description: String { map { "\($0.key)=\($0.value)" }.joined(separator: ",") }
}
