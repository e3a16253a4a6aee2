// Message/Headers: the fields of a message, and which of them may be sent or shown. It may use Support.

/// The headers of a message: names with their values, in order.
///
/// Names are compared without case, and keep their spelling. A name may have several values.
///
///     var headers: HTTPHeaders = ["Accept": "application/json"]
///     headers["accept"]                           // "application/json"
///     headers.append("text/plain", for: "Accept")
///     headers["Accept"]                           // "application/json, text/plain"
///     headers["Accept"] = nil                     // both are gone
///
/// Any text can be stored; ``validate()`` checks whether the headers may be sent.
public struct HTTPHeaders: Sendable {
    private(set) var fields: [Field]

    /// No headers.
    public init() { fields = [] }

    /// The headers of `fields`, in their order.
    public init(_ fields: some Sequence<Field>) { self.fields = Array(fields) }

    /// The headers of a dictionary, in the order of their names.
    public init(_ values: [String: String]) {
        self.init(values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) })
    }

    /// The value of a header, or nil if there is none.
    ///
    /// Several values are joined as the standard says: by a comma, or by a semicolon for `Cookie`. Values of
    /// `Set-Cookie` cannot be joined, so the first is returned; use ``values(for:)`` for all.
    ///
    /// Setting replaces all values by one, at the position of the first or at the end. Setting nil removes the header.
    public subscript(name: String) -> String? {
        get {
            guard let first = firstIndex(of: name) else { return nil }
            var value = fields[first].value
            for field in fields[(first + 1)...] where field.isNamed(name) {
                if field.isNamed("Set-Cookie") { break }
                value += field.isNamed("Cookie") ? "; " : ", "
                value += field.value
            }
            return value
        }
        set {
            guard let newValue else { return remove(name) }
            guard let first = firstIndex(of: name) else { return append(newValue, for: name) }
            fields[first] = Field(name, newValue)
            remove(name, after: first)
        }
    }

    /// All values of a header, in order; empty if it is missing.
    public func values(for name: String) -> [String] {
        fields.compactMap { $0.isNamed(name) ? $0.value : nil }
    }

    /// Whether there is a header of that name.
    public func contains(_ name: String) -> Bool {
        firstIndex(of: name) != nil
    }

    /// Adds a value at the end, and keeps those that the name has already.
    public mutating func append(_ value: String, for name: String) {
        fields.append(Field(name, value))
    }

    /// Removes every value of a header.
    public mutating func remove(_ name: String) {
        remove(name, after: -1)
    }

    /// Adds the headers of `other` whose names are missing here, with all their values.
    public mutating func merge(filling other: HTTPHeaders) {
        guard !fields.isEmpty else { return self = other }
        let own = fields.count
        for field in other.fields where !fields[..<own].contains(where: { $0.isNamed(field.name) }) {
            fields.append(field)
        }
    }

    private func firstIndex(of name: String) -> Int? {
        fields.firstIndex { $0.isNamed(name) }
    }

    private mutating func remove(_ name: String, after index: Int) {
        var kept = index + 1
        for next in fields.indices[kept...] where !fields[next].isNamed(name) {
            if next != kept { fields.swapAt(next, kept) }
            kept += 1
        }
        if kept < fields.count { fields.removeSubrange(kept...) }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// The headers as written; a name written twice has two values.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.lazy.map { Field($0, $1) })
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }

    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at `position`.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders {
    /// One line of the headers: a name and a value.
    public struct Field: Sendable {
        /// The name, as it was spelled.
        public let name: String

        /// The value.
        public let value: String

        /// The field of `name` and `value`.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// Whether the field has this name, in any case.
        func isNamed(_ other: String) -> Bool { ASCII.isEqualIgnoringCase(name, other) }
    }
}

extension HTTPHeaders.Field: Hashable {
    /// Whether the values are equal, and the names apart from their case.
    public static func == (left: Self, right: Self) -> Bool {
        left.isNamed(right.name) && left.value == right.value
    }

    /// Feeds the name without its case, and the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.utf8.count)
        for byte in name.utf8 { hasher.combine(ASCII.lowercased(byte)) }
        hasher.combine(value)
    }
}

extension HTTPHeaders: Hashable {
    /// Whether both have the same names, each with the same values in the same order.
    ///
    /// The order of different names has no meaning in HTTP, and none here.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.fields.count == right.fields.count else { return false }
        if left.fields == right.fields { return true }
        return left.fields.allSatisfy { field in
            left.fields.lazy.filter { $0.isNamed(field.name) }
                .elementsEqual(right.fields.lazy.filter { $0.isNamed(field.name) })
        }
    }

    /// Feeds the fields in a way that does not depend on their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for field in fields {
            var fork = hasher
            field.hash(into: &fork)
            sum &+= fork.finalize()
        }
        hasher.combine(fields.count)
        hasher.combine(sum)
    }
}

extension HTTPHeaders {
    /// The elements of a header that is a comma-separated list, from all of its values and in order.
    ///
    /// Blanks around an element, and empty elements, are removed. A comma within quotes separates too, so use this only for
    /// lists of tokens.
    package func list(for name: String) -> [String] {
        values(for: name).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
            .map { String(decoding: ASCII.trimmed($0), as: UTF8.self) }
            .filter { !$0.isEmpty }
    }

    /// Whether a header that is a comma-separated list has an element, in any case.
    package func list(for name: String, contains element: String) -> Bool {
        list(for: name).contains { ASCII.isEqualIgnoringCase($0, element) }
    }
}
