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
