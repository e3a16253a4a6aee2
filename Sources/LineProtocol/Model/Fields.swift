/// The fields of a point: keys with their values, in the order in which they were set, each key once.
///
/// ```swift
/// var fields: Fields = ["duration": 0.25, "bytes": 512, "cached": false, "route": "a"]
/// fields["bytes"] = .unsigned(512)
/// fields["route"] = nil
/// ```
public struct Fields: Sendable {
    /// A field.
    public struct Element: Sendable, Hashable {
        /// The key of the field.
        public let key: String
        /// The value of the field.
        public let value: FieldValue
    }

    private(set) var elements: [Element] = []

    /// Creates empty fields.
    public init() {}

    /// Creates fields from keys and values; the later of two values for a key wins.
    public init(_ fields: some Sequence<(String, FieldValue)>) {
        for (key, value) in fields { self[key] = value }
    }

    /// Creates fields from decoded elements, in linear time.
    init(read elements: [Element]) {
        self.elements = elements
        // Comparing a few keys with each other is faster than hashing them.
        let few = 16
        if elements.count <= few, elements.indices.allSatisfy({ position(of: elements[$0].key) == $0 }) { return }
        self.elements.removeAll()
        var places: [[UInt8]: Int] = [:]
        for field in elements {
            let key = Array(field.key.utf8)
            if let place = places[key] {
                self.elements[place] = field
            } else {
                places[key] = self.elements.count
                self.elements.append(field)
            }
        }
    }

    /// The value of a field; nil if there is no field with this key.
    ///
    /// Keys are compared byte by byte, as servers do.
    public subscript(key: String) -> FieldValue? {
        get { position(of: key).map { elements[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let index?, let value?): elements[index] = Element(key: key, value: value)
            case (let index?, nil): elements.remove(at: index)
            case (nil, let value?): elements.append(Element(key: key, value: value))
            case (nil, nil): break  // There is nothing to remove.
            }
        }
    }

    private func position(of key: String) -> Int? {
        elements.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
    }
}

extension Fields: RandomAccessCollection {
    /// The index of the first field.
    public var startIndex: Int { 0 }

    /// The index after the last field.
    public var endIndex: Int { elements.count }

    /// The field at an index.
    public subscript(position: Int) -> Element { elements[position] }
}

extension Fields: ExpressibleByDictionaryLiteral {
    /// Creates fields from keys and values; the later of two values for a key wins.
    public init(dictionaryLiteral elements: (String, FieldValue)...) { self.init(elements) }
}

extension Fields: Hashable {
    /// Whether both have the same fields, in any order.
    public static func == (first: Fields, second: Fields) -> Bool {
        first.elements == second.elements
            || first.count == second.count && first.allSatisfy { second[$0.key] == $0.value }
    }

    /// Hashes the fields independently of their order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(elements.reduce(0) { $0 ^ $1.hashValue })
    }
}

/// The value of a field, with its type.
///
/// The first value that a server stores determines the type of the field.
public enum FieldValue: Sendable, Hashable {
    /// A double; it is decoded bit for bit.
    case double(Double)
    /// A float, written as the shortest text that reads back as the same float; it is decoded as the double of that text.
    case float(Float)
    /// A signed integer.
    case integer(Int64)
    /// An unsigned integer, which servers before InfluxDB 2 do not support.
    case unsigned(UInt64)
    /// A Boolean.
    case boolean(Bool)
    /// A string.
    case string(String)
}

extension FieldValue: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringInterpolation
{
    /// Creates a double.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Creates a signed integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }

    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
}
