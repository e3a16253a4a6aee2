// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Objective-C's root class, and the classes that Swift's value types are bridged to.
import FoundationEssentials

public protocol NSObjectProtocol: AnyObject {
    func isEqual(_ object: Any?) -> Bool
    var hash: Int { get }
    var description: String { get }
}

open class NSObject: NSObjectProtocol, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    public init() {}
    open func isEqual(_ object: Any?) -> Bool { fatalError() }
    open var hash: Int { 0 }
    open var description: String { "" }
    open var debugDescription: String { "" }
    open func copy() -> Any { self }
    open func responds(to selector: Selector!) -> Bool { false }
    public static func == (left: NSObject, right: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
}

public struct Selector: Hashable, Sendable {}
public func NSSelectorFromString(_ name: String) -> Selector { Selector() }

public protocol NSCopying {}

open class NSString: NSObject, NSCopying, ExpressibleByStringLiteral, @unchecked Sendable {
    public required init(stringLiteral value: String) {}
    public init(string: String) {}
}

open class NSNumber: NSObject, @unchecked Sendable {
    public init(value: Bool) {}
    public init(value: Int) {}
    public init(value: Double) {}
    public init(value: Int64) {}
    public init(value: UInt64) {}
    open var objCType: UnsafePointer<CChar> { fatalError() }
    open var intValue: Int { 0 }
    open var int64Value: Int64 { 0 }
    open var uint64Value: UInt64 { 0 }
    open var doubleValue: Double { 0 }
    open var boolValue: Bool { false }
    open var stringValue: String { "" }
}

open class NSData: NSObject, NSCopying {}
open class NSArray: NSObject, NSCopying {}
open class NSDictionary: NSObject, NSCopying {}
open class NSNull: NSObject, @unchecked Sendable {}
open class NSDate: NSObject {}

open class NSError: NSObject, Error, @unchecked Sendable {
    public init(domain: String, code: Int, userInfo: [String: Any]? = nil) {}
    open var domain: String { "" }
    open var code: Int { 0 }
    open var userInfo: [String: Any] { [:] }
    open var localizedDescription: String { "" }
}

extension String: @retroactive _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSString { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout String?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSString, result: inout String?) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> String { "" }
    public init(_ cocoaString: NSString) { self = "" }
}

extension Data: @retroactive _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSData { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ source: NSData, result: inout Data?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSData, result: inout Data?) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSData?) -> Data { Data() }
}

extension Array: @retroactive _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSArray { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ source: NSArray, result: inout Self?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSArray, result: inout Self?) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSArray?) -> Self { fatalError() }
}

extension Dictionary: @retroactive _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSDictionary { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ source: NSDictionary, result: inout Self?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSDictionary, result: inout Self?) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSDictionary?) -> Self { fatalError() }
}
