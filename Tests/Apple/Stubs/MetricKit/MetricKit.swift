// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The SDK for macOS 26 was the first to have metric payloads, and declares them for earlier versions too, which deliver none.
import Foundation

@available(iOS 13.0, macOS 12.0, visionOS 1.0, *)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
open class MXMetricManager: NSObject {
    open class var shared: MXMetricManager { fatalError() }
    open var pastPayloads: [MXMetricPayload] { [] }
    @available(iOS 14.0, macOS 12.0, visionOS 1.0, *)
    open var pastDiagnosticPayloads: [MXDiagnosticPayload] { [] }
    open func add(_ subscriber: any MXMetricManagerSubscriber) {}
    open func remove(_ subscriber: any MXMetricManagerSubscriber) {}
}

// Both methods are optional. They are not here, so that the compiler compares their availability with that of a subscriber's.
@available(iOS 13.0, macOS 12.0, visionOS 1.0, *)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
public protocol MXMetricManagerSubscriber: NSObjectProtocol {
    func didReceive(_ payloads: [MXMetricPayload])
    @available(iOS 14.0, macOS 12.0, visionOS 1.0, *)
    func didReceive(_ payloads: [MXDiagnosticPayload])
}

@available(iOS 13.0, macOS 10.15, visionOS 1.0, *)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
open class MXMetricPayload: NSObject {
    open var timeStampBegin: Date { fatalError() }
    open var timeStampEnd: Date { fatalError() }
    open var latestApplicationVersion: String { "" }
    open var includesMultipleApplicationVersions: Bool { false }
    open func jsonRepresentation() -> Data { Data() }
    open func dictionaryRepresentation() -> [AnyHashable: Any] { [:] }
}

@available(iOS 14.0, macOS 12.0, visionOS 1.0, *)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
open class MXDiagnosticPayload: NSObject {
    open var timeStampBegin: Date { fatalError() }
    open var timeStampEnd: Date { fatalError() }
    open func jsonRepresentation() -> Data { Data() }
    open func dictionaryRepresentation() -> [AnyHashable: Any] { [:] }
}
