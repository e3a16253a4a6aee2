// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Dispatch

public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public enum UnsatisfiedReason: Sendable { case notAvailable, cellularDenied, wifiDenied, localNetworkDenied }
    public let status: Status
    public let isExpensive: Bool
    public let isConstrained: Bool
}

public final class NWPathMonitor: Sendable {
    public init() {}
    @preconcurrency public final var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public final var currentPath: NWPath { fatalError() }
    public final func start(queue: DispatchQueue) {}
    public final func cancel() {}
}
