// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The call to an app's delegate when the system wakes the app for its background uploads; macOS has none.
@_exported import Foundation

@MainActor open class UIResponder: NSObjectProtocol {
    public init() {}
    nonisolated public func isEqual(_ object: Any?) -> Bool { false }
    nonisolated public var hash: Int { 0 }
    nonisolated public var description: String { "" }
}

@MainActor open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
    open class var shared: UIApplication { fatalError() }
}

// Its methods are optional in Objective-C.
@MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)
}

extension UIApplicationDelegate {
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }
    public func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {}
}
