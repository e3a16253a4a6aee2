/// Something that a request tells the loaders it meets, and that is not part of the message.
///
/// A loader declares an option, and reads it from every request that it is handed:
///
/// ```swift
/// enum CachingOption: HTTPRequestOption {
///     static var defaultOptionValue: CachingOption { .allowed }
///     case allowed, refused
/// }
///
/// extension HTTPRequest {
///     var caching: CachingOption {
///         get { self[option: CachingOption.self] }
///         set { self[option: CachingOption.self] = newValue }
///     }
/// }
/// ```
public protocol HTTPRequestOption: Sendable {
    /// The type of what the option is set to.
    associatedtype Value: Sendable

    /// What a request says that never set the option.
    static var defaultOptionValue: Value { get }
}

/// The options that a request has set, in one allocation for all whose values are small.
///
/// Requests carry few options, so the first that matches is found faster than any hash could be computed.
@usableFromInline
struct RequestOptions: Sendable {
    @usableFromInline var entries: [Entry] = []

    @inlinable init() {}

    // Frozen, so that its inlined initializer compiles in a framework that may evolve, too.
    @frozen @usableFromInline
    struct Entry: Sendable {
        /// The value, in a container that stores up to three words without an allocation.
        @usableFromInline let value: any StoredOption
        @usableFromInline let key: ObjectIdentifier

        @inlinable init(key: ObjectIdentifier, value: any StoredOption) {
            self.key = key
            self.value = value
        }
    }

    @inlinable
    subscript<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        get {
            let key = ObjectIdentifier(option)
            return entries.withUnsafeBufferPointer { entries in
                for index in entries.indices where entries[index].key == key {
                    // The key is the option's type, so what is stored is of the option's value type.
                    return OptionValue<Option.Value>.read(from: entries.baseAddress.unsafelyUnwrapped + index)
                }
                return Option.defaultOptionValue
            }
        }
        set {
            let entry = Entry(key: ObjectIdentifier(option), value: OptionValue(value: newValue))
            if let index = entries.firstIndex(where: { $0.key == entry.key }) {
                entries[index] = entry
            } else {
                if entries.isEmpty { entries.reserveCapacity(4) }
                entries.append(entry)
            }
        }
    }
}

/// An option's value whose type only its reader knows.
@usableFromInline
protocol StoredOption: Sendable {
    func copy(to memory: UnsafeMutableRawPointer)
}

@frozen @usableFromInline
struct OptionValue<Value: Sendable>: StoredOption {
    @usableFromInline let value: Value

    @inlinable init(value: Value) { self.value = value }

    @inlinable
    func copy(to memory: UnsafeMutableRawPointer) {
        memory.initializeMemory(as: Value.self, to: value)
    }

    /// Whether a container stores the value in its own first words, which the language's stable layout says it does for
    /// small values that may be moved as they are.
    @inlinable
    static var isStoredInPlace: Bool {
        _isBitwiseTakable(Value.self) && MemoryLayout<Value>.size <= 3 * MemoryLayout<Int>.size
            && MemoryLayout<Value>.alignment <= MemoryLayout<Int>.alignment
    }

    /// Reads the value of an entry that holds one of this type.
    ///
    /// A small value is read where it lies. A cast would find the same, but costs more than all the rest of a read.
    @inlinable
    static func read(from entry: UnsafePointer<RequestOptions.Entry>) -> Value {
        if isStoredInPlace {
            return UnsafeRawPointer(entry).assumingMemoryBound(to: Value.self).pointee
        }
        return withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { value in
            entry.pointee.value.copy(to: UnsafeMutableRawPointer(value.baseAddress.unsafelyUnwrapped))
            return value.moveElement(from: 0)
        }
    }
}
