/// Writes the tags of a line, in any order.
///
/// Tags in the byte order of their keys are the fastest, because they need not be sorted afterwards.
public struct TagWriter: ~Copyable {
    // A strong reference, so that using the writer after its line has ended does no harm.
    let storage: LineStorage

    init(_ storage: LineStorage) { self.storage = storage }

    /// Sets a tag; a later tag with the same key replaces it.
    public mutating func set(_ key: String, _ value: String) {
        storage.core.writeTag(key, value)
    }

    /// Sets a tag to the description of a value.
    public mutating func set<Value: LosslessStringConvertible>(_ key: String, _ value: Value) {
        set(key, value.description)
    }

    /// Sets all of `tags`.
    public mutating func set(_ tags: Tags) {
        storage.core.write(tags)
    }
}

/// Writes the fields of a line.
///
/// A line needs at least one field. If two fields have the same key, servers keep the later one.
public struct FieldWriter: ~Copyable {
    private let storage: LineStorage

    /// Continues a line whose tags are complete.
    init(_ storage: LineStorage) { self.storage = storage }

    /// Adds a field with a double; a value that is not finite is dropped.
    public mutating func set(_ key: String, _ value: Double) {
        storage.core.writeField(key, value)
    }

    /// Adds a field with a float, as the shortest text that reads back as the same float; a value that is not finite is dropped.
    public mutating func set(_ key: String, _ value: Float) {
        storage.core.writeField(key, value)
    }

    /// Adds a field with an integer.
    public mutating func set(_ key: String, _ value: Int) {
        storage.core.writeField(key, Int64(value))
    }

    /// Adds a field with an integer.
    public mutating func set(_ key: String, _ value: Int64) {
        storage.core.writeField(key, value)
    }

    /// Adds a field with an unsigned integer, as described for ``LineDialect/writesUnsigned``.
    public mutating func set(_ key: String, _ value: UInt64) {
        storage.core.writeField(key, value)
    }

    /// Adds a field with a Boolean.
    public mutating func set(_ key: String, _ value: Bool) {
        storage.core.writeField(key, value)
    }

    /// Adds a field with a string.
    public mutating func set(_ key: String, _ value: String) {
        storage.core.writeField(key, value)
    }

    /// Adds a field with a value of any type.
    public mutating func set(_ key: String, _ value: FieldValue) {
        storage.core.write(key, value)
    }

    /// Adds all of `fields`.
    public mutating func set(_ fields: Fields) {
        storage.core.write(fields)
    }
}

/// Owns the core of an encoder, and is shared by copies of the encoder until one of them writes.
///
/// It is `Sendable` because a shared core is never written to: an encoder copies it first, and while a line is being written, its
/// encoder is in exclusive use.
final class LineStorage: @unchecked Sendable {
    // Two accesses cannot overlap, because no method of the core calls a user's code. The check at run time would make writing a
    // line a third to a half slower.
    @exclusivity(unchecked) var core: LineCore

    init(_ core: consuming LineCore) { self.core = core }
}
