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
public protocol HTTPRequestOption {
    /// The type of what the option is set to.
    associatedtype Value: Sendable

    /// What a request says that never set the option.
    static var defaultOptionValue: Value { get }
}

/// The options that a request has set, in one allocation for all.
///
/// Requests carry few options, so the first that matches is found faster than any hash could be computed.
@usableFromInline
struct RequestOptions: Sendable {
    @usableFromInline var entries: [Entry] = []

    @inlinable init() {}

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let key: ObjectIdentifier
        @usableFromInline let value: any StoredOption

        @inlinable init(key: ObjectIdentifier, value: any StoredOption) {
            self.key = key
            self.value = value
        }
    }

    @inlinable
    subscript<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        get {
            let key = ObjectIdentifier(option)
            for index in entries.indices where entries[index].key == key {
                return withUnsafeTemporaryAllocation(of: Option.Value.self, capacity: 1) { buffer in
                    // The key is the option's type, so what is stored is of the option's value type.
                    entries[index].value.copy(to: UnsafeMutableRawPointer(buffer.baseAddress.unsafelyUnwrapped))
                    return buffer.moveElement(from: 0)
                }
            }
            return Option.defaultOptionValue
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

/// An option's value that can be copied out without a cast, which would cost more than all the rest of a read.
@usableFromInline
protocol StoredOption: Sendable {
    func copy(to memory: UnsafeMutableRawPointer)
}

@usableFromInline
struct OptionValue<Value: Sendable>: StoredOption {
    @usableFromInline let value: Value

    @inlinable init(value: Value) { self.value = value }

    @inlinable
    func copy(to memory: UnsafeMutableRawPointer) {
        memory.initializeMemory(as: Value.self, to: value)
    }
}
