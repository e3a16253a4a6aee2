extension HTTPTraceContext {
    /// Values of the program for every server along the way: the header `baggage` (W3C Baggage).
    ///
    /// Every server that the request reaches can read it, and passes it on. Put no secret and nothing about a person into
    /// it.
    public struct Baggage: Hashable, Sendable {
        /// The members, in their order.
        public private(set) var members: [Member] = []

        /// A key with its value.
        public struct Member: Hashable, Sendable {
            /// The name, a token.
            public let key: String
            /// The value, decoded.
            public let value: String
            /// The properties of the value.
            public let properties: [Property]
        }

        /// A property of a value.
        public struct Property: Hashable, Sendable {
            /// The name, a token.
            public let key: String
            /// The value, decoded; nil for a name alone.
            public let value: String?

            /// Makes a property; nil if the name is not a token.
            public init?(_ key: String, _ value: String? = nil) {
                guard ASCII.isToken(key) else { return nil }
                self.key = key
                self.value = value
            }
        }

        /// Makes a baggage without members.
        public init() {}

        /// Reads `baggage`, which may stand in several lines, without the members that are not valid.
        ///
        /// The first 64 members, and 8192 bytes, are read.
        public init(_ headers: HTTPHeaders) {
            var left = Self.greatestLength
            for line in headers.values(for: Self.fieldName) {
                for member in line.utf8.split(separator: UInt8(ascii: ",")) {
                    left -= member.count + 1
                    guard left >= -1, members.count < Self.greatestCount else { return }
                    if let member = Member(member) { members.append(member) }
                }
            }
        }

        /// The first value of a key; nil if there is none.
        public subscript(key: String) -> String? { members.first { $0.key == key }?.value }

        /// Replaces the members of a key by one, at the end.
        ///
        /// - Returns: whether the key is a token; otherwise nothing changes.
        @discardableResult
        public mutating func set(_ key: String, to value: String, properties: [Property] = []) -> Bool {
            guard ASCII.isToken(key) else { return false }
            remove(key)
            members.append(Member(key: key, value: value, properties: properties))
            return true
        }

        /// Removes the members of a key.
        public mutating func remove(_ key: String) { members.removeAll { $0.key == key } }

        static let fieldName = "baggage"
        private static let greatestCount = 64
        private static let greatestLength = 8_192

        /// The value of the header; nil without members.
        ///
        /// It has at most 64 members and 8192 bytes, which every system along the way has to pass. Members that do not fit are left out.
        var fieldValue: String? {
            var text = ""
            var count = 0
            for member in members where count < Self.greatestCount {
                let member = (text.isEmpty ? "" : ",") + member.text
                guard text.utf8.count + member.utf8.count <= Self.greatestLength else { continue }
                text += member
                count += 1
            }
            return text.isEmpty ? nil : text
        }
    }
}

extension HTTPTraceContext.Baggage.Member {
    /// Reads `key=value;property;key=value`; nil if a part of it is not valid.
    fileprivate init?(_ bytes: Substring.UTF8View) {
        let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = HTTPTraceContext.Baggage.Property(parts[0]), let value = first.value else { return nil }
        var properties: [HTTPTraceContext.Baggage.Property] = []
        for part in parts.dropFirst() {
            guard let property = HTTPTraceContext.Baggage.Property(part) else { return nil }
            properties.append(property)
        }
        self.init(key: first.key, value: value, properties: properties)
    }

    fileprivate var text: String {
        let own = "\(key)=\(PercentEncoding.baggage.encode(value))"
        return ([own] + properties.map(\.text)).joined(separator: ";")
    }
}

extension HTTPTraceContext.Baggage.Property {
    /// The bytes of a value: all that are printable, without a quotation mark, a comma, a semicolon and a backslash.
    private static let octets = ASCIISet(ASCIISet.alphanumerics + "!#$%&'()*+-./:<=>?@[]^_`{|}~")

    /// Reads `key=value` or `key`, with blanks around them; nil if a part is not valid.
    fileprivate init?(_ bytes: Substring.UTF8View) {
        let parts = bytes.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            .map { ASCII.trimmed($0) }
        guard parts.count < 2 || parts[1].allSatisfy(Self.octets.contains) else { return nil }
        self.init(
            String(decoding: parts[0], as: UTF8.self),
            parts.count < 2 ? nil : PercentEncoding.decode(String(decoding: parts[1], as: UTF8.self)))
    }

    fileprivate var text: String { value.map { "\(key)=\(PercentEncoding.baggage.encode($0))" } ?? key }
}
