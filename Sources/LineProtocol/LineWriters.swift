/// Takes the tags of a line, in any order.
///
/// Tags whose keys come in byte order cost the least, because they are written in their place at once.
public struct TagWriter: ~Copyable {
    // It owns the lines too, so that keeping it too long is harmless.
    let storage: LineStorage

    init(_ storage: LineStorage) { self.storage = storage }

    /// Sets a tag; of two with the same key the later one stays.
    public mutating func set(_ key: String, _ value: String) {
        storage.core.writeTag(key, value)
    }

    /// Sets a tag to what a value is called by its description.
    public mutating func set<Value: LosslessStringConvertible>(_ key: String, _ value: Value) {
        set(key, value.description)
    }

    /// Sets all of `tags`.
    public mutating func set(_ tags: Tags) {
        storage.core.write(tags)
    }
}

/// Takes the fields of a line.
///
/// A line needs at least one. If two have the same key, servers keep the later one.
public struct FieldWriter: ~Copyable {
    private let storage: LineStorage

    /// Continues a line whose tags are complete.
    init(_ storage: LineStorage) { self.storage = storage }

    /// Adds a field with a double, which is left out if it is not finite.
    public mutating func set(_ key: String, _ value: Double) {
        storage.core.writeField(key, value)
    }

    /// Adds a field with a float, by the shortest text that stands for it; it is left out if it is not finite.
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

    /// Adds a field with an unsigned integer, the way the dialect has it.
    public mutating func set(_ key: String, _ value: UInt64) {
        storage.core.writeField(key, value)
    }

    /// Adds a field that is true or false.
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
/// It is `Sendable` because nothing writes to a core that has two owners: an encoder makes a copy first, and while a line is
/// being written its encoder is in use by the one who writes.
final class LineStorage: @unchecked Sendable {
    // Two accesses cannot overlap: no method of the core calls code of a user's. Checking that at run time makes a line a
    // third to a half slower.
    @exclusivity(unchecked) var core: LineCore

    init(_ core: consuming LineCore) { self.core = core }
}
