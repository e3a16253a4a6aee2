import LoaderChainPlatformFoundation

/// Why a task has no response, or no usable one.
///
/// ```swift
/// do {
///     _ = try await chain.load(request)
/// } catch where error.code == .timedOut {
///     print("The server takes too long")
/// }
/// ```
public struct HTTPError: Error, Sendable {
    // Boxed, because every task stores a result, and most results are not errors.
    private var details: Details

    /// Makes an error; loaders usually call ``HTTPLoader/fail(_:_:response:underlyingError:reason:)`` instead.
    public init(
        _ code: Code, request: HTTPRequest, response: HTTPResponse? = nil, underlyingError: (any Error)? = nil,
        reason: String? = nil, loader: String? = nil
    ) {
        details = Details(
            Values(
                code: code, request: request, response: response, underlyingError: underlyingError, reason: reason,
                loader: loader))
    }

    private struct Values: Sendable {
        var code: Code
        var request: HTTPRequest
        var response: HTTPResponse?
        var underlyingError: (any Error)?
        var reason: String?
        var loader: String?
        var attempts = 1
    }

    private final class Details: Sendable {
        let values: Values
        init(_ values: Values) { self.values = values }
    }

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = details.values
        change(&values)
        details = Details(values)
    }
}

extension HTTPError {
    /// The kind of error.
    public var code: Code {
        get { details.values.code }
        set { change { $0.code = newValue } }
    }

    /// The request as it was when the task ended.
    public var request: HTTPRequest {
        get { details.values.request }
        set { change { $0.request = newValue } }
    }

    /// The response, if it had arrived.
    public var response: HTTPResponse? {
        get { details.values.response }
        set { change { $0.response = newValue } }
    }

    /// The underlying error, such as the terminal's.
    public var underlyingError: (any Error)? {
        get { details.values.underlyingError }
        set { change { $0.underlyingError = newValue } }
    }

    /// What went wrong in this case, and what to do, as a sentence.
    public var reason: String? {
        get { details.values.reason }
        set { change { $0.reason = newValue } }
    }

    /// The name of the loader that made the error.
    public var loader: String? {
        get { details.values.loader }
        set { change { $0.loader = newValue } }
    }

    /// How many attempts were made; 1 unless a loader such as ``Retry`` tried again.
    public var attempts: Int {
        get { details.values.attempts }
        set { change { $0.attempts = newValue } }
    }
}

extension HTTPError {
    /// A kind of error; a loader adds its own as static members.
    ///
    /// ```swift
    /// extension HTTPError.Code {
    ///     static let overQuota = HTTPError.Code("overQuota")
    /// }
    /// ```
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the kind.
        public let rawValue: String

        /// Makes a kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a kind of this name.
        public init(_ name: String) { rawValue = name }

        /// The name of the kind.
        public var description: String { rawValue }

        /// The request cannot be sent as it is.
        public static let invalidRequest = Code("invalidRequest")
        /// No connection could be made, or the chain has no terminal to make one.
        public static let cannotConnect = Code("cannotConnect")
        /// The connection was lost before the response was complete.
        public static let connectionLost = Code("connectionLost")
        /// Too much time passed.
        public static let timedOut = Code("timedOut")
        /// The task was cancelled.
        public static let cancelled = Code("cancelled")
        /// No secure connection could be made.
        public static let insecureConnection = Code("insecureConnection")
        /// What arrived is not an acceptable response.
        public static let invalidResponse = Code("invalidResponse")
        /// The response is larger than the request allows.
        public static let responseTooLarge = Code("responseTooLarge")
        /// The response could not be stored at its destination.
        public static let cannotStoreResponse = Code("cannotStoreResponse")
        /// There were more redirects than the request allows.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// The body of the response could not be decoded.
        public static let cannotDecodeResponse = Code("cannotDecodeResponse")
        /// The chain is being reset, and accepts no tasks meanwhile.
        public static let resetInProgress = Code("resetInProgress")
        /// The deadline of the request has come, or would come before the request can have its result.
        ///
        /// The error's ``HTTPError/loader`` is the loader that had the request at that moment.
        public static let deadlineExceeded = Code("deadlineExceeded")
        /// The server has failed too often, and a ``CircuitBreaker`` leaves it alone for a while.
        public static let circuitOpen = Code("circuitOpen")
        /// The queue of a ``Throttle`` was full, and this task had the lowest priority; nothing was sent.
        public static let queueFull = Code("queueFull")
        /// The task waited in the queue of a ``Throttle`` until its time limit passed; nothing was sent.
        public static let queueTimedOut = Code("queueTimedOut")
        /// The task had too low a priority for a ``Throttle``, and nothing was sent.
        ///
        /// The queue has not become shorter for a while, or the priority is lower than ``Throttle/minimumPriority``.
        /// Trying again at once does not help. Send fewer requests while ``Throttle/pressure`` is high.
        public static let shed = Code("shed")
        /// The request came too early for a ``RateLimit``, and could not wait.
        public static let rateLimited = Code("rateLimited")
        /// The user has to sign in: there are no usable credentials.
        public static let authenticationRequired = Code("authenticationRequired")
        /// Credentials could not be obtained; another attempt may succeed.
        public static let authenticationFailed = Code("authenticationFailed")
        /// A loader released the task without completing it.
        public static let abandoned = Code("abandoned")
        /// Something else; see the underlying error.
        public static let unknown = Code("unknown")
    }
}

extension HTTPError: CustomStringConvertible {
    /// The kind, the loader that made the error, the request and the reason; no secrets.
    public var description: String {
        var text = "\(code)"
        if let loader { text += " (\(loader))" }
        text += ": \(request.method) \(request.loggableURL)"
        if let response { text += " answered \(response.status)" }
        if let reason { text += ". \(reason)" }
        if let underlyingError { text += ". Underlying error: \(Self.loggable(underlyingError))" }
        return text
    }

    /// Other errors are shown by type and number, because their texts often quote whole URLs.
    private static func loggable(_ error: any Error) -> String {
        switch error {
        case let error as HTTPError: error.description
        case let error as HTTPBodyError: error.description
        // The reason has the path and the fault; the number says no more.
        case is DecodingError, is EncodingError: "\(type(of: error))"
        default: "\(type(of: error)) \(error._code)"
        }
    }
}

extension HTTPError: LocalizedError {
    /// The description, which `localizedDescription` shows.
    public var errorDescription: String? { description }
}
