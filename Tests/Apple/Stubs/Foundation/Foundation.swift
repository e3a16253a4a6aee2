// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Apple's Foundation consists of the open-source Foundation, which is used as it is, and of Objective-C classes, which are
// declared here.
@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import FoundationEssentials
@_exported import FoundationInternationalization
import Security

extension String {
    public init(format: String, _ arguments: any CVarArg...) { self = "" }
    public init(format: String, locale: Locale?, _ arguments: any CVarArg...) { self = "" }
}

public struct CharacterSet: Hashable, Sendable {
    public init(charactersIn string: String) {}
    public static var whitespaces: CharacterSet { fatalError() }
    public static var whitespacesAndNewlines: CharacterSet { fatalError() }
    public static var newlines: CharacterSet { fatalError() }
    public static var decimalDigits: CharacterSet { fatalError() }
}

extension Data {
    public func range<D: DataProtocol>(
        of data: D, options: Data.SearchOptions = [], in range: Range<Index>? = nil
    ) -> Range<Index>? { nil }
}

extension ProcessInfo {
    @available(macOS, unavailable)
    @preconcurrency public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {}
}

public func NSTemporaryDirectory() -> String { "" }
public func NSHomeDirectory() -> String { "" }

extension StringProtocol {
    public func range<T: StringProtocol>(
        of aString: T, options mask: String.CompareOptions = [], range searchRange: Range<Index>? = nil,
        locale: Locale? = nil
    ) -> Range<Index>? { nil }
    public func replacingOccurrences<Target: StringProtocol, Replacement: StringProtocol>(
        of target: Target, with replacement: Replacement, options: String.CompareOptions = [],
        range searchRange: Range<Index>? = nil
    ) -> String { "" }
    public func components<T: StringProtocol>(separatedBy separator: T) -> [String] { [] }
}

public let NSFilePathErrorKey = ""
public let NSLocalizedDescriptionKey = ""
public let NSUnderlyingErrorKey = ""

public struct POSIXError: Error, Hashable, Sendable {
    public typealias Code = POSIXErrorCode
    public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }
    public let code: Code
    public static func == (left: Self, right: Self) -> Bool { false }
    public func hash(into hasher: inout Hasher) {}
}

extension Error {
    public var localizedDescription: String { "" }
}

extension StringProtocol {
    public func trimmingCharacters(in set: CharacterSet) -> String { "" }
    public func capitalized(with locale: Locale?) -> String { "" }
    public var localizedUppercase: String { "" }
}

#if os(macOS)
    open class Host: NSObject {
        open class func current() -> Self { fatalError() }
        open var localizedName: String? { nil }
    }
#endif
