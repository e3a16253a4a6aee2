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

/// The options that a request has set, each in an object of its own.
///
/// An object whose class names the option can be checked and read for less than a cast of a value in a container costs.
/// Requests carry few options, so comparing one after the other is faster than a hash table.
@frozen @usableFromInline
struct RequestOptions: Sendable {
    @usableFromInline var values: [any AnyObject & Sendable] = []

    @inlinable init() {}

    @inlinable
    subscript<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        get {
            guard let index = index(of: option), let stored = values[index] as? OptionValue<Option> else {
                return Option.defaultOptionValue
            }
            return stored.value
        }
        set {
            let stored = OptionValue<Option>(newValue)
            if let index = index(of: option) {
                values[index] = stored
            } else {
                if values.isEmpty { values.reserveCapacity(4) }
                values.append(stored)
            }
        }
    }

    /// Comparing the classes first skips the other options for less than failed casts cost.
    @inlinable
    func index<Option: HTTPRequestOption>(of option: Option.Type) -> Int? {
        values.firstIndex { type(of: $0) == OptionValue<Option>.self }
    }
}

/// The value of one option.
@usableFromInline
final class OptionValue<Option: HTTPRequestOption>: Sendable {
    @usableFromInline let value: Option.Value

    // Not inlined, since a framework that may evolve keeps the layout of its objects to itself.
    @usableFromInline init(_ value: Option.Value) { self.value = value }
}
