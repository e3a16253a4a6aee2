/// The fields of a point: keys with their values, in the order they were set, each key once.
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

    /// No fields.
    public init() {}

    /// Makes fields from keys and values; the later of two values for a key wins.
    public init(_ fields: some Sequence<(String, FieldValue)>) {
        for (key, value) in fields { self[key] = value }
    }

    /// Makes fields from what was read, in linear time.
    init(read elements: [Element]) {
        self.elements = elements
        // Few keys are compared with each other in less time than they are hashed in.
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

    /// The value of a field; nil if there is none with this key.
    ///
    /// Keys are compared by their bytes, as servers do.
    public subscript(key: String) -> FieldValue? {
        get { position(of: key).map { elements[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let index?, let value?): elements[index] = Element(key: key, value: value)
            case (let index?, nil): elements.remove(at: index)
            case (nil, let value?): elements.append(Element(key: key, value: value))
            case (nil, nil): break  // There is nothing to take away.
            }
        }
    }

    private func position(of key: String) -> Int? {
        elements.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
    }
}

extension Fields: RandomAccessCollection {
    /// Where the fields begin.
    public var startIndex: Int { 0 }

    /// Where the fields end.
    public var endIndex: Int { elements.count }

    /// The field at a position.
    public subscript(position: Int) -> Element { elements[position] }
}

extension Fields: ExpressibleByDictionaryLiteral {
    /// Makes fields from keys and values; the later of two values for a key wins.
    public init(dictionaryLiteral elements: (String, FieldValue)...) { self.init(elements) }
}

extension Fields: Hashable {
    /// Whether both hold the same fields, in whatever order.
    public static func == (first: Fields, second: Fields) -> Bool {
        first.elements == second.elements
            || first.count == second.count && first.allSatisfy { second[$0.key] == $0.value }
    }

    /// Hashes the fields without regard to their order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(elements.reduce(0) { $0 ^ $1.hashValue })
    }
}

extension Fields: Codable {
    /// Reads an object of values.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            self[key.stringValue] = try container.decode(FieldValue.self, forKey: key)
        }
    }

    /// Writes an object of values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for field in elements { try container.encode(field.value, forKey: AnyKey(field.key)) }
    }
}

/// The value of a field, with its type: a server keeps the type that a field was first written with.
public enum FieldValue: Sendable, Hashable {
    /// A double; it comes back bit for bit.
    case double(Double)
    /// A float, written by the shortest text that stands for it; it comes back as a double of that text.
    case float(Float)
    /// A signed integer.
    case integer(Int64)
    /// An unsigned integer, which servers before InfluxDB 2 do not have.
    case unsigned(UInt64)
    /// A truth value.
    case boolean(Bool)
    /// A string.
    case string(String)
}

extension FieldValue: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringInterpolation
{
    /// Makes a double.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Makes a signed integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// Makes a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }

    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension FieldValue: Codable {
    private enum Kind: String, CodingKey {
        case double, float, integer, unsigned, boolean, string
    }

    /// Reads an object with one entry that is named after the type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Kind.self)
        guard let kind = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "A field's value has exactly one type."))
        }
        switch kind {
        case .double: self = .double(try container.decode(Double.self, forKey: kind))
        case .float: self = .float(try container.decode(Float.self, forKey: kind))
        case .integer: self = .integer(try container.decode(Int64.self, forKey: kind))
        case .unsigned: self = .unsigned(try container.decode(UInt64.self, forKey: kind))
        case .boolean: self = .boolean(try container.decode(Bool.self, forKey: kind))
        case .string: self = .string(try container.decode(String.self, forKey: kind))
        }
    }

    /// Writes an object with one entry that is named after the type, such as `{"integer": 5}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Kind.self)
        switch self {
        case .double(let number): try container.encode(number, forKey: .double)
        case .float(let number): try container.encode(number, forKey: .float)
        case .integer(let number): try container.encode(number, forKey: .integer)
        case .unsigned(let number): try container.encode(number, forKey: .unsigned)
        case .boolean(let flag): try container.encode(flag, forKey: .boolean)
        case .string(let text): try container.encode(text, forKey: .string)
        }
    }
}
