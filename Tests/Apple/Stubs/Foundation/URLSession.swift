// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// URL loading, as Swift imports it. An optional method of a protocol is a requirement with a default implementation.
import Security

open class URLResponse: NSObject, NSCopying, @unchecked Sendable {
    public init(url: URL, mimeType: String?, expectedContentLength: Int, textEncodingName: String?) {}
    open var url: URL? { nil }
    open var mimeType: String? { nil }
    open var expectedContentLength: Int64 { 0 }
    open var suggestedFilename: String? { nil }
}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { fatalError() }
    open var statusCode: Int { 0 }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
    open func value(forHTTPHeaderField field: String) -> String? { nil }
    open class func localizedString(forStatusCode statusCode: Int) -> String { "" }
}

public struct URLRequest: Hashable, Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy, reloadIgnoringLocalCacheData, reloadIgnoringLocalAndRemoteCacheData
        case returnCacheDataElseLoad, returnCacheDataDontLoad, reloadRevalidatingCacheData
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }
    public enum NetworkServiceType: UInt, Sendable {
        case `default`, voip, video, background, voice, responsiveData = 6, avStreaming = 8, responsiveAV, callSignaling
    }
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {}
    public var url: URL?
    public var cachePolicy: CachePolicy = .useProtocolCachePolicy
    public var timeoutInterval: TimeInterval = 60
    public var mainDocumentURL: URL?
    public var networkServiceType: NetworkServiceType = .default
    public var allowsCellularAccess = true
    @available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
    public var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set {}
    }
    @available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
    public var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set {}
    }
    @available(macOS 11.3, iOS 14.5, watchOS 7.4, tvOS 14.5, *)
    public var assumesHTTP3Capable: Bool {
        get { true }
        set {}
    }
    public var httpMethod: String?
    public var allHTTPHeaderFields: [String: String]?
    public var httpBody: Data?
    public var httpBodyStream: InputStream? {
        get { nil }
        set {}
    }
    public var httpShouldHandleCookies = true
    public var httpShouldUsePipelining = false
    public func value(forHTTPHeaderField field: String) -> String? { nil }
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}

public protocol StreamDelegate: NSObjectProtocol {}

open class Stream: NSObject {
    public struct PropertyKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }
    public enum Status: UInt, Sendable {
        case notOpen, opening, open, reading, writing, atEnd, closed, error
    }
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let openCompleted = Event(rawValue: 1)
        public static let hasBytesAvailable = Event(rawValue: 2)
        public static let hasSpaceAvailable = Event(rawValue: 4)
        public static let errorOccurred = Event(rawValue: 8)
        public static let endEncountered = Event(rawValue: 16)
    }
    open func open() {}
    open func close() {}
    unowned(unsafe) open var delegate: (any StreamDelegate)?
    open func property(forKey key: PropertyKey) -> Any? { nil }
    open func setProperty(_ property: Any?, forKey key: PropertyKey) -> Bool { false }
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    open var streamStatus: Status { .notOpen }
    open var streamError: (any Error)? { nil }
}

@available(*, unavailable)
extension Stream: Sendable {}

open class InputStream: Stream {
    public init(data: Data) {}
    public init?(url: URL) {}
    public convenience init?(fileAtPath path: String) { fatalError() }
    open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { 0 }
    open func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }
    open var hasBytesAvailable: Bool { false }
}

open class OutputStream: Stream {
    open func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int { 0 }
    open var hasSpaceAvailable: Bool { false }
}

open class URLCache: NSObject, @unchecked Sendable {
    open class var shared: URLCache {
        get { fatalError() }
        set {}
    }
    public init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {}
    open func removeAllCachedResponses() {}
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {}
}

open class CachedURLResponse: NSObject, @unchecked Sendable {
    public init(response: URLResponse, data: Data) {}
    open var response: URLResponse { fatalError() }
    open var data: Data { fatalError() }
}

open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    open class var shared: HTTPCookieStorage { fatalError() }
}

open class URLCredential: NSObject, @unchecked Sendable {
    public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }
    public init(user: String, password: String, persistence: Persistence) {}
    public init(identity: SecIdentity, certificates certArray: [Any]?, persistence: Persistence) {}
    public init(trust: SecTrust) {}
    open var user: String? { nil }
    open var password: String? { nil }
}

open class URLCredentialStorage: NSObject, @unchecked Sendable {
    open class var shared: URLCredentialStorage { fatalError() }
}

public let NSURLAuthenticationMethodDefault = ""
public let NSURLAuthenticationMethodHTTPBasic = ""
public let NSURLAuthenticationMethodServerTrust = ""
public let NSURLAuthenticationMethodClientCertificate = ""

open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var host: String { "" }
    open var port: Int { 0 }
    open var realm: String? { nil }
    open var authenticationMethod: String { "" }
    open var serverTrust: SecTrust? { nil }
    open func isProxy() -> Bool { false }
}

open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    open var protectionSpace: URLProtectionSpace { fatalError() }
    open var proposedCredential: URLCredential? { nil }
    open var previousFailureCount: Int { 0 }
    open var error: (any Error)? { nil }
}

open class URLSession: NSObject, @unchecked Sendable {
    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }
    public enum ResponseDisposition: Int, Sendable { case cancel, allow, becomeDownload, becomeStream }
    public enum DelayedRequestDisposition: Int, Sendable { case continueLoading, useNewRequest, cancel }

    open class var shared: URLSession { fatalError() }
    public init(configuration: URLSessionConfiguration) {}
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {}
    open var delegateQueue: OperationQueue { fatalError() }
    open var delegate: (any URLSessionDelegate)? { nil }
    open var configuration: URLSessionConfiguration { fatalError() }
    open var sessionDescription: String?
    open func finishTasksAndInvalidate() {}
    open func invalidateAndCancel() {}
    open func reset(completionHandler: @escaping @Sendable () -> Void) {}
    open func flush(completionHandler: @escaping @Sendable () -> Void) {}
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
            ) -> Void
    ) {}
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}
    open var allTasks: [URLSessionTask] { get async { [] } }
    open var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async { ([], [], []) }
    }
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    open func dataTask(with url: URL) -> URLSessionDataTask { fatalError() }
    open func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { fatalError() }
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask { fatalError() }
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask { fatalError() }
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) { fatalError() }

    public struct AsyncBytes: AsyncSequence, Sendable {
        public typealias Element = UInt8
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> UInt8? { nil }
        }
        public func makeAsyncIterator() -> AsyncIterator { fatalError() }
    }
}

open class URLSessionTask: NSObject, @unchecked Sendable {
    public enum State: Int, Sendable { case running, suspended, canceling, completed }
    public static let defaultPriority: Float = 0.5
    public static let lowPriority: Float = 0.25
    public static let highPriority: Float = 0.75

    open var taskIdentifier: Int { 0 }
    open var originalRequest: URLRequest? { nil }
    open var currentRequest: URLRequest? { nil }
    open var response: URLResponse? { nil }
    open var delegate: (any URLSessionTaskDelegate)?
    open var progress: Progress { fatalError() }
    open var earliestBeginDate: Date?
    open var countOfBytesClientExpectsToSend: Int64 = 0
    open var countOfBytesClientExpectsToReceive: Int64 = 0
    open var countOfBytesSent: Int64 { 0 }
    open var countOfBytesReceived: Int64 { 0 }
    open var countOfBytesExpectedToSend: Int64 { 0 }
    open var countOfBytesExpectedToReceive: Int64 { 0 }
    open var taskDescription: String?
    open func cancel() {}
    open var state: State { .running }
    open var error: (any Error)? { nil }
    open func suspend() {}
    open func resume() {}
    open var priority: Float = 0.5
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {}
}
@available(macOS 10.11, iOS 9.0, watchOS 2.0, tvOS 9.0, *)
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {}

open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    public enum MultipathServiceType: Int, Sendable { case none, handover, interactive, aggregate }

    open class var `default`: URLSessionConfiguration { fatalError() }
    open class var ephemeral: URLSessionConfiguration { fatalError() }
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    open var identifier: String? { nil }
    open var requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t = .TLSv12
    open var timeoutIntervalForRequest: TimeInterval = 0
    open var timeoutIntervalForResource: TimeInterval = 0
    open var networkServiceType: URLRequest.NetworkServiceType = .default
    open var allowsCellularAccess = true
    open var allowsExpensiveNetworkAccess = true
    open var allowsConstrainedNetworkAccess = true
    open var waitsForConnectivity = false
    open var isDiscretionary = false
    open var sharedContainerIdentifier: String?
    @available(macOS 11.0, *)
    open var sessionSendsLaunchEvents: Bool {
        get { true }
        set {}
    }
    open var connectionProxyDictionary: [AnyHashable: Any]?
    open var httpShouldUsePipelining = false
    open var httpShouldSetCookies = true
    open var httpAdditionalHeaders: [AnyHashable: Any]?
    open var httpMaximumConnectionsPerHost = 6
    open var httpCookieStorage: HTTPCookieStorage?
    open var urlCredentialStorage: URLCredentialStorage?
    open var urlCache: URLCache?
    open var shouldUseExtendedBackgroundIdleMode = false
    open var protocolClasses: [AnyClass]?
    @available(macOS, unavailable)
    open var multipathServiceType: MultipathServiceType {
        get { .none }
        set {}
    }
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {}
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {}
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {}
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
}

extension URLSessionDataDelegate {
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {}
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {}
}

open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    public enum ResourceFetchType: Int, Sendable { case unknown, networkLoad, serverPush, localCache }
    open var request: URLRequest { fatalError() }
    open var response: URLResponse? { nil }
    open var fetchStartDate: Date? { nil }
    open var domainLookupStartDate: Date? { nil }
    open var domainLookupEndDate: Date? { nil }
    open var connectStartDate: Date? { nil }
    open var secureConnectionStartDate: Date? { nil }
    open var secureConnectionEndDate: Date? { nil }
    open var connectEndDate: Date? { nil }
    open var requestStartDate: Date? { nil }
    open var requestEndDate: Date? { nil }
    open var responseStartDate: Date? { nil }
    open var responseEndDate: Date? { nil }
    open var networkProtocolName: String? { nil }
    open var isProxyConnection: Bool { false }
    open var isReusedConnection: Bool { false }
    open var resourceFetchType: ResourceFetchType { .unknown }
    open var countOfRequestHeaderBytesSent: Int64 { 0 }
    open var countOfRequestBodyBytesSent: Int64 { 0 }
    open var countOfResponseHeaderBytesReceived: Int64 { 0 }
    open var countOfResponseBodyBytesReceived: Int64 { 0 }
}

open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { [] }
    open var taskInterval: DateInterval { fatalError() }
    open var redirectCount: Int { 0 }
}

public let NSURLErrorDomain = "NSURLErrorDomain"

public struct URLError: Error, Hashable, Sendable {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
    }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }
    public let code: Code
    public var errorCode: Int { code.rawValue }
    public var userInfo: [String: Any] { [:] }
    public var localizedDescription: String { "" }
    public var failingURL: URL? { nil }
    public var failureURLString: String? { nil }
    public var failureURLPeerTrust: SecTrust? { nil }
    public var networkUnavailableReason: NetworkUnavailableReason? { nil }
    public enum NetworkUnavailableReason: Int, Sendable { case cellular, expensive, constrained }
}

extension URLError.Code {
    public static let unknown = Self(rawValue: -1)
    public static let cancelled = Self(rawValue: -999)
    public static let badURL = Self(rawValue: -1000)
    public static let timedOut = Self(rawValue: -1001)
    public static let unsupportedURL = Self(rawValue: -1002)
    public static let cannotFindHost = Self(rawValue: -1003)
    public static let cannotConnectToHost = Self(rawValue: -1004)
    public static let networkConnectionLost = Self(rawValue: -1005)
    public static let dnsLookupFailed = Self(rawValue: -1006)
    public static let httpTooManyRedirects = Self(rawValue: -1007)
    public static let resourceUnavailable = Self(rawValue: -1008)
    public static let notConnectedToInternet = Self(rawValue: -1009)
    public static let redirectToNonExistentLocation = Self(rawValue: -1010)
    public static let badServerResponse = Self(rawValue: -1011)
    public static let userCancelledAuthentication = Self(rawValue: -1012)
    public static let userAuthenticationRequired = Self(rawValue: -1013)
    public static let zeroByteResource = Self(rawValue: -1014)
    public static let cannotDecodeRawData = Self(rawValue: -1015)
    public static let cannotDecodeContentData = Self(rawValue: -1016)
    public static let cannotParseResponse = Self(rawValue: -1017)
    public static let internationalRoamingOff = Self(rawValue: -1018)
    public static let callIsActive = Self(rawValue: -1019)
    public static let dataNotAllowed = Self(rawValue: -1020)
    public static let requestBodyStreamExhausted = Self(rawValue: -1021)
    public static let appTransportSecurityRequiresSecureConnection = Self(rawValue: -1022)
    public static let fileDoesNotExist = Self(rawValue: -1100)
    public static let fileIsDirectory = Self(rawValue: -1101)
    public static let noPermissionsToReadFile = Self(rawValue: -1102)
    public static let dataLengthExceedsMaximum = Self(rawValue: -1103)
    public static let secureConnectionFailed = Self(rawValue: -1200)
    public static let serverCertificateHasBadDate = Self(rawValue: -1201)
    public static let serverCertificateUntrusted = Self(rawValue: -1202)
    public static let serverCertificateHasUnknownRoot = Self(rawValue: -1203)
    public static let serverCertificateNotYetValid = Self(rawValue: -1204)
    public static let clientCertificateRejected = Self(rawValue: -1205)
    public static let clientCertificateRequired = Self(rawValue: -1206)
    public static let cannotLoadFromNetwork = Self(rawValue: -2000)
    public static let cannotCreateFile = Self(rawValue: -3000)
    public static let cannotOpenFile = Self(rawValue: -3001)
    public static let cannotCloseFile = Self(rawValue: -3002)
    public static let cannotWriteToFile = Self(rawValue: -3003)
    public static let cannotRemoveFile = Self(rawValue: -3004)
    public static let cannotMoveFile = Self(rawValue: -3005)
    public static let downloadDecodingFailedMidStream = Self(rawValue: -3006)
    public static let downloadDecodingFailedToComplete = Self(rawValue: -3007)
    public static let backgroundSessionRequiresSharedContainer = Self(rawValue: -995)
    public static let backgroundSessionInUseByAnotherProcess = Self(rawValue: -996)
    public static let backgroundSessionWasDisconnected = Self(rawValue: -997)
}

extension URLError.Code {
    public static func ~= (code: Self, error: any Error) -> Bool { false }
}
