// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The parts of Dispatch that the package uses, as Apple's overlay declares them.
@_exported import Darwin

open class DispatchObject: @unchecked Sendable {
    init() {}
    public func setTarget(queue: DispatchQueue?) {}
    public func activate() {}
    public func suspend() {}
    public func resume() {}
}

public struct DispatchQoS: Equatable, Sendable {
    public enum QoSClass: Sendable { case background, utility, `default`, userInitiated, userInteractive, unspecified }
    public let qosClass: QoSClass
    public static let background = DispatchQoS(qosClass: .background, relativePriority: 0)
    public static let utility = DispatchQoS(qosClass: .utility, relativePriority: 0)
    public static let `default` = DispatchQoS(qosClass: .default, relativePriority: 0)
    public static let userInitiated = DispatchQoS(qosClass: .userInitiated, relativePriority: 0)
    public static let userInteractive = DispatchQoS(qosClass: .userInteractive, relativePriority: 0)
    public static let unspecified = DispatchQoS(qosClass: .unspecified, relativePriority: 0)
    public init(qosClass: QoSClass, relativePriority: Int) { self.qosClass = qosClass }
}

public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let barrier = DispatchWorkItemFlags(rawValue: 1)
}

public class DispatchWorkItem {
    public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], block: @escaping () -> Void) {}
    public func perform() {}
    public func cancel() {}
    public var isCancelled: Bool { false }
}

open class DispatchQueue: DispatchObject, @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Attributes(rawValue: 1)
        public static let initiallyInactive = Attributes(rawValue: 2)
    }
    public enum AutoreleaseFrequency: Sendable { case inherit, workItem, never }

    public class var main: DispatchQueue { fatalError() }
    public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }
    public convenience init(
        label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
        autoreleaseFrequency: AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
    ) { fatalError() }
    public var label: String { fatalError() }
    public var qos: DispatchQoS { fatalError() }

    @preconcurrency
    public func async(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func async(execute workItem: DispatchWorkItem) {}
    @preconcurrency
    public func asyncAfter(
        deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func asyncAfter(deadline: DispatchTime, execute: DispatchWorkItem) {}
    public func sync<T>(execute work: () throws -> T) rethrows -> T { fatalError() }
    public func sync<T>(flags: DispatchWorkItemFlags, execute work: () throws -> T) rethrows -> T { fatalError() }
    @preconcurrency public class func concurrentPerform(iterations: Int, execute work: @Sendable (Int) -> Void) {}
    @preconcurrency public func setSpecific<T: Sendable>(key: DispatchSpecificKey<T>, value: T?) {}
    @preconcurrency public class func getSpecific<T: Sendable>(key: DispatchSpecificKey<T>) -> T? { nil }
}

public final class DispatchSpecificKey<T> {
    public init() {}
}

extension DispatchSpecificKey: @unchecked Sendable where T: Sendable {}

public func dispatchPrecondition(condition: @autoclosure () -> DispatchPredicate) {}
public enum DispatchPredicate {
    case onQueue(DispatchQueue), onQueueAsBarrier(DispatchQueue), notOnQueue(DispatchQueue)
}
public func dispatchMain() -> Never { fatalError() }

open class DispatchGroup: DispatchObject, @unchecked Sendable {
    public override init() {}
    public func enter() {}
    public func leave() {}
    @available(*, noasync) public func wait() {}
    @available(*, noasync) public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
    @available(*, noasync) public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult { .success }
    public func notify(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
        execute work: @escaping @convention(block) () -> Void
    ) {}
}

open class DispatchSemaphore: DispatchObject, @unchecked Sendable {
    public init(value: Int) {}
    @discardableResult public func signal() -> Int { 0 }
    @available(*, noasync) public func wait() {}
    @available(*, noasync) public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
    @available(*, noasync) public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult { .success }
}

@frozen public enum DispatchTimeoutResult: Sendable { case success, timedOut }

public struct DispatchTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static func now() -> DispatchTime { fatalError() }
    public static let distantFuture = DispatchTime(rawValue: .max)
    init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(uptimeNanoseconds: UInt64) { rawValue = uptimeNanoseconds }
    public var uptimeNanoseconds: UInt64 { rawValue }
    public static func < (left: DispatchTime, right: DispatchTime) -> Bool { fatalError() }
    public static func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { fatalError() }
    public static func + (time: DispatchTime, seconds: Double) -> DispatchTime { fatalError() }
}

public struct DispatchWallTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static func now() -> DispatchWallTime { fatalError() }
    public static let distantFuture = DispatchWallTime(rawValue: .max)
    init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: DispatchWallTime, right: DispatchWallTime) -> Bool { fatalError() }
    public static func + (time: DispatchWallTime, seconds: Double) -> DispatchWallTime { fatalError() }
}

public enum DispatchTimeInterval: Equatable, Sendable {
    case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}

// Neither a source nor its handlers are sendable.
public protocol DispatchSourceProtocol: AnyObject {
    func activate()
    func cancel()
    func resume()
    func suspend()
    var isCancelled: Bool { get }
}

extension DispatchSourceProtocol {
    public typealias DispatchSourceHandler = @convention(block) () -> Void

    public func setEventHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) {}
    public func setCancelHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) {}
    public func setRegistrationHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) {}
}

public protocol DispatchSourceSignal: DispatchSourceProtocol {}
public protocol DispatchSourceRead: DispatchSourceProtocol {}

public protocol DispatchSourceTimer: DispatchSourceProtocol {
    func schedule(deadline: DispatchTime, repeating interval: DispatchTimeInterval, leeway: DispatchTimeInterval)
    func schedule(deadline: DispatchTime, repeating interval: Double, leeway: DispatchTimeInterval)
}

extension DispatchSourceTimer {
    public func schedule(
        deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {}
    public func schedule(
        deadline: DispatchTime, repeating interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {}
}

open class DispatchSource: DispatchObject, DispatchSourceSignal, DispatchSourceRead, DispatchSourceTimer,
    @unchecked Sendable
{
    public struct TimerFlags: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let strict = TimerFlags(rawValue: 1)
    }
    public func cancel() {}
    public var isCancelled: Bool { false }
    public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceSignal {
        fatalError()
    }
    public class func makeReadSource(fileDescriptor: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceRead {
        fatalError()
    }
    public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil) -> any DispatchSourceTimer {
        fatalError()
    }
}
