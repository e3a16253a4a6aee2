// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Threads, queues, notifications, processes and files.

open class RunLoop: NSObject {
    public struct Mode: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let `default` = Mode(rawValue: "")
        public static let common = Mode(rawValue: "")
    }
    open class var current: RunLoop { fatalError() }
    open class var main: RunLoop { fatalError() }
    open func run() {}
    open func run(until limitDate: Date) {}
    open func run(mode: Mode, before limitDate: Date) -> Bool { false }
}

@available(*, unavailable)
extension RunLoop: Sendable {}

open class Thread: NSObject {
    @available(*, noasync) open class var current: Thread { fatalError() }
    @available(*, noasync) open class var isMainThread: Bool { false }
    @available(*, noasync) open class func sleep(forTimeInterval ti: TimeInterval) {}
    @preconcurrency open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
    @preconcurrency public convenience init(block: @escaping @Sendable () -> Void) { fatalError() }
    open var stackSize: Int = 0
    open var name: String?
    open func start() {}
}

open class Operation: NSObject, @unchecked Sendable {
    open func start() {}
    open func main() {}
    open func cancel() {}
    open var isCancelled: Bool { false }
    open var isExecuting: Bool { false }
    open var isFinished: Bool { false }
    open var isAsynchronous: Bool { false }
}

open class BlockOperation: Operation, @unchecked Sendable {
    @preconcurrency public convenience init(block: @escaping @Sendable () -> Void) { fatalError() }
}

open class OperationQueue: NSObject, @unchecked Sendable {
    open class var main: OperationQueue { fatalError() }
    open class var current: OperationQueue? { nil }
    open func addOperation(_ op: Operation) {}
    @preconcurrency open func addOperation(_ block: @escaping @Sendable () -> Void) {}
    open func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {}
    open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {}
    open var maxConcurrentOperationCount: Int = 0
    open var isSuspended: Bool = false
    open var name: String?
    unowned(unsafe) open var underlyingQueue: DispatchQueue?
    open func cancelAllOperations() {}
    open func waitUntilAllOperationsAreFinished() {}
}

public protocol NSLocking {
    func lock()
    func unlock()
}

extension NSLocking {
    public func withLock<R>(_ body: () throws -> R) rethrows -> R { fatalError() }
}

open class NSLock: NSObject, NSLocking, @unchecked Sendable {
    @available(*, noasync) open func lock() {}
    @available(*, noasync) open func unlock() {}
    open func `try`() -> Bool { false }
}

open class NSRecursiveLock: NSObject, NSLocking, @unchecked Sendable {
    @available(*, noasync) open func lock() {}
    @available(*, noasync) open func unlock() {}
}

open class NSCondition: NSObject, NSLocking, @unchecked Sendable {
    @available(*, noasync) open func lock() {}
    @available(*, noasync) open func unlock() {}
    @available(*, noasync) open func wait() {}
    @available(*, noasync) open func wait(until limit: Date) -> Bool { false }
    @available(*, noasync) open func signal() {}
    @available(*, noasync) open func broadcast() {}
}

extension NSNotification {
    public struct Name: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }
}

open class NSNotification: NSObject {}

public struct Notification {
    public typealias Name = NSNotification.Name
    public var name: Name
    public var object: Any?
    public var userInfo: [AnyHashable: Any]?
    public init(name: Name, object: Any? = nil, userInfo: [AnyHashable: Any]? = nil) { self.name = name }
}

@available(*, unavailable)
extension Notification: Sendable {}

open class NotificationCenter: NSObject, @unchecked Sendable {
    open class var `default`: NotificationCenter { fatalError() }
    open func addObserver(
        forName name: NSNotification.Name?, object obj: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol { fatalError() }
    open func removeObserver(_ observer: Any) {}
    open func post(name aName: NSNotification.Name, object anObject: Any?) {}
}

open class Progress: NSObject, @unchecked Sendable {
    public init(totalUnitCount unitCount: Int64) {}
    open var totalUnitCount: Int64 = 0
    open var completedUnitCount: Int64 = 0
    open var fractionCompleted: Double { 0 }
}

open class Bundle: NSObject, @unchecked Sendable {
    open class var main: Bundle { fatalError() }
    public init(for aClass: AnyClass) {}
    open var bundleURL: URL { fatalError() }
    open var bundlePath: String { "" }
    open var executableURL: URL? { nil }
    open var bundleIdentifier: String? { nil }
    open var infoDictionary: [String: Any]? { nil }
    open func url(forResource name: String?, withExtension ext: String?) -> URL? { nil }
    open class var allBundles: [Bundle] { [] }
}

open class FileHandle: NSObject, @unchecked Sendable {
    open class var standardInput: FileHandle { fatalError() }
    open class var standardOutput: FileHandle { fatalError() }
    open class var standardError: FileHandle { fatalError() }
    open class var nullDevice: FileHandle { fatalError() }
    public convenience init(forReadingFrom url: URL) throws { fatalError() }
    public convenience init(forWritingTo url: URL) throws { fatalError() }
    public convenience init(forUpdating url: URL) throws { fatalError() }
    public convenience init?(forWritingAtPath path: String) { fatalError() }
    open var fileDescriptor: Int32 { 0 }
    open func write(_ data: Data) {}
    public func write<T: DataProtocol>(contentsOf data: T) throws {}
    open func readDataToEndOfFile() -> Data { fatalError() }
    public func readToEnd() throws -> Data? { nil }
    public func read(upToCount count: Int) throws -> Data? { nil }
    open var availableData: Data { fatalError() }
    @discardableResult public func seekToEnd() throws -> UInt64 { 0 }
    public func seek(toOffset offset: UInt64) throws {}
    public func truncate(atOffset offset: UInt64) throws {}
    public func synchronize() throws {}
    public func close() throws {}
    open var readabilityHandler: (@Sendable (FileHandle) -> Void)?
}

open class Pipe: NSObject, @unchecked Sendable {
    open var fileHandleForReading: FileHandle { fatalError() }
    open var fileHandleForWriting: FileHandle { fatalError() }
}

#if os(macOS)
    open class Process: NSObject, @unchecked Sendable {
        public enum TerminationReason: Int, Sendable { case exit = 1, uncaughtSignal }
        open var executableURL: URL?
        open var arguments: [String]?
        open var environment: [String: String]?
        open var currentDirectoryURL: URL?
        open var standardInput: Any?
        open var standardOutput: Any?
        open var standardError: Any?
        open func run() throws {}
        open func interrupt() {}
        open func terminate() {}
        open var processIdentifier: Int32 { 0 }
        open var isRunning: Bool { false }
        open var terminationStatus: Int32 { 0 }
        open var terminationReason: TerminationReason { .exit }
        open var terminationHandler: (@Sendable (Process) -> Void)?
        open func waitUntilExit() {}
    }
#endif

public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let fileSizeKey = URLResourceKey(rawValue: "")
    public static let isDirectoryKey = URLResourceKey(rawValue: "")
    public static let isRegularFileKey = URLResourceKey(rawValue: "")
    public static let isExcludedFromBackupKey = URLResourceKey(rawValue: "")
    public static let contentModificationDateKey = URLResourceKey(rawValue: "")
}

public struct URLResourceValues: Sendable {
    public init() {}
    public var isExcludedFromBackup: Bool?
    public var fileSize: Int? { nil }
    public var isDirectory: Bool? { nil }
    public var isRegularFile: Bool? { nil }
    public var contentModificationDate: Date?
}

extension URL {
    @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
    public static var applicationSupportDirectory: URL { fatalError() }
    @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
    public static var cachesDirectory: URL { fatalError() }
    public mutating func setResourceValues(_ values: URLResourceValues) throws {}
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues { fatalError() }
}

public struct FileProtectionType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let none = FileProtectionType(rawValue: "")
    public static let complete = FileProtectionType(rawValue: "")
    public static let completeUnlessOpen = FileProtectionType(rawValue: "")
    public static let completeUntilFirstUserAuthentication = FileProtectionType(rawValue: "")
}

extension FileAttributeKey {
    public static let protectionKey = FileAttributeKey(rawValue: "NSFileProtectionKey")
}

open class JSONSerialization: NSObject {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let mutableContainers = ReadingOptions(rawValue: 1)
        public static let fragmentsAllowed = ReadingOptions(rawValue: 4)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let prettyPrinted = WritingOptions(rawValue: 1)
        public static let sortedKeys = WritingOptions(rawValue: 2)
        public static let fragmentsAllowed = WritingOptions(rawValue: 4)
        public static let withoutEscapingSlashes = WritingOptions(rawValue: 8)
    }
    open class func jsonObject(with data: Data, options opt: ReadingOptions = []) throws -> Any { fatalError() }
    open class func data(withJSONObject obj: Any, options opt: WritingOptions = []) throws -> Data { fatalError() }
    open class func isValidJSONObject(_ obj: Any) -> Bool { false }
}
