/// A setting that a request has for loaders, and that is not part of the message.
///
/// A loader declares an option, and reads it from every request that it receives:
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
///
/// In a module whose code belongs to the main actor by default, the option is a `nonisolated enum`, and its property stands in a
/// `nonisolated extension`, because loaders read it on any thread.
public protocol HTTPRequestOption: Sendable {
    /// The type of the option's value.
    associatedtype Value: Sendable

    /// The value for requests that have not set the option.
    static var defaultOptionValue: Value { get }

    /// Whether two attempts of a request with this value may be under way at once, as those of a ``Hedge`` are.
    ///
    /// The default is true. Return false for a value that both attempts would use, such as a file that the response is written to.
    static func allowsTwoAttempts(with value: Value) -> Bool
}

extension HTTPRequestOption {
    /// Two attempts may be under way at once.
    public static func allowsTwoAttempts(with value: Value) -> Bool { true }
}

/// The options that a request has set, each in an object of its own.
///
/// Checking the class of an object and reading it costs less than casting a value in an existential container. Requests
/// have few options, so a linear search is faster than a hash table.
@frozen @usableFromInline
struct RequestOptions: Sendable {
    @usableFromInline var values: [any StoredOption] = []

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

    var allowTwoAttempts: Bool { values.allSatisfy(\.allowsTwoAttempts) }

    /// Comparing classes skips other options at less cost than failed casts.
    @inlinable
    func index<Option: HTTPRequestOption>(of option: Option.Type) -> Int? {
        values.firstIndex { type(of: $0) == OptionValue<Option>.self }
    }
}

@usableFromInline
protocol StoredOption: AnyObject, Sendable {
    var allowsTwoAttempts: Bool { get }
}

@usableFromInline
final class OptionValue<Option: HTTPRequestOption>: StoredOption {
    @usableFromInline let value: Option.Value

    // Not inlinable: with library evolution, the layout of objects is not public.
    @usableFromInline init(_ value: Option.Value) { self.value = value }

    @usableFromInline var allowsTwoAttempts: Bool { Option.allowsTwoAttempts(with: value) }
}

/// Which networks a request may use.
///
/// Only the terminals of Apple systems distinguish networks; elsewhere this option has no effect.
public struct NetworkAccess: OptionSet, Hashable, HTTPRequestOption {
    /// All networks that the session's configuration allows.
    public static var defaultOptionValue: NetworkAccess { .all }

    /// The kinds of network, as bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Cellular networks.
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks that the system considers expensive, such as a personal hotspot.
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in Low Data Mode.
    public static let constrained = NetworkAccess(rawValue: 4)
    /// All networks.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}

extension HTTPRequest {
    /// Which networks the request may use besides the usual networks; all of them by default.
    ///
    /// ```swift
    /// request.networkAccess = [.cellular]  // Cellular, but nothing expensive, and not in Low Data Mode.
    /// ```
    public var networkAccess: NetworkAccess {
        get { self[option: NetworkAccess.self] }
        set { self[option: NetworkAccess.self] = newValue }
    }
}
