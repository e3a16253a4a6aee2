// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Core Foundation's objects are toll-free bridged to Objective-C's, so each is the same type here.
@_exported import ObjectiveC

public typealias CFString = NSString
public typealias CFData = NSData
public typealias CFArray = NSArray
public typealias CFDictionary = NSDictionary
public typealias CFError = NSError
public typealias CFIndex = Int
public typealias CFTypeRef = AnyObject
public final class CFAllocator: @unchecked Sendable {}
public typealias OSStatus = Int32
