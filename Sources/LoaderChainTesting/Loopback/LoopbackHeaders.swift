/// Header fields in the order of the wire, found by name without regard to case.
///
/// ```swift
/// var headers: LoopbackHeaders = ["Accept": "text/plain", "X-Trace": "1"]
/// headers.add("x-trace", "2")
/// headers["X-TRACE"]        // "1", the first
/// headers.all("X-Trace")    // ["1", "2"]
/// ```
public struct LoopbackHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One line of a header.
    public struct Field: Sendable, Hashable {
        /// The name, spelt as it was received or is to be sent.
        public var name: String
        /// The value, without the blanks around it.
        public var value: String

        /// Makes a field of a name and a value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    private var fields: [Field]

    /// Makes a list of fields, empty if none are given.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Makes a list from a literal; a name may occur more than once.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0, $1) }
    }

    /// The first value under a name; setting it replaces every value under that name, and `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.isSameToken(as: name) }?.value }
        set {
            let place = fields.firstIndex { $0.name.isSameToken(as: name) } ?? fields.endIndex
            fields.removeAll { $0.name.isSameToken(as: name) }
            if let newValue { fields.insert(Field(name, newValue), at: place) }
        }
    }

    /// Every value under a name, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { $0.name.isSameToken(as: name) }.map(\.value)
    }

    /// Appends a field and leaves those of the same name in place.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name, value))
    }

    /// The elements of all comma-separated lists under a name, without blanks and without empty elements.
    func list(_ name: String) -> [String] {
        all(name).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
            .map { String(decoding: $0.trimmingBlanks(), as: UTF8.self) }
            .filter { !$0.isEmpty }
    }
}

extension LoopbackHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }
}

extension LoopbackHeaders: CustomStringConvertible {
    /// The fields as lines of a head.
    public var description: String {
        fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}

extension String {
    /// Compares as the tokens of HTTP compare: ASCII letters without regard to case, all else byte by byte.
    func isSameToken(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

extension UInt8 {
    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// A space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension BidirectionalCollection where Element == UInt8, SubSequence: BidirectionalCollection {
    /// The bytes without the blanks at both ends.
    func trimmingBlanks() -> [UInt8] {
        let tail = drop { $0.isBlank }
        return Array(tail.reversed().drop { $0.isBlank }.reversed())
    }
}
