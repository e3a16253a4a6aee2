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

    /// Makes room for fields that are about to be added.
    package mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

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
