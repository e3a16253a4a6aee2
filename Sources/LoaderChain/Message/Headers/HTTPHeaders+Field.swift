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
