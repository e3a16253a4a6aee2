// Metrics: the records of requests, events and traces, and the sinks that receive them. A queue keeps a slow sink from delaying
// requests, and a board counts in memory. MetricsTap, a loader, measures requests.

import LoaderChainPlatformFoundation

/// The measurement of one request: when, how long, where to, how much, and how it ended.
///
/// A ``MetricsTap`` emits one for every task that passes it. It holds no query, fragment, user, password, header or
/// body, and its ``route`` has placeholders for the parts that differ from user to user.
public struct HTTPMetric: Sendable, Hashable {
    /// When the task reached the tap.
    public var start: Date
    /// The time from then until the task had its result, by a clock that never jumps.
    public var duration: Duration
    /// The part of the duration that the task waited in queues below the tap: for a slot, for its turn, or for a retry.
    public var waiting: Duration
    /// The method.
    public var method: HTTPMethod
    /// The scheme.
    public var scheme: String
    /// The host in lowercase; empty if no loader filled it in.
    public var host: String
    /// The port, also if it is the scheme's own; nil for a scheme other than HTTP's.
    public var port: Int?
    /// The request's ``HTTPRequest/route``, or its path with placeholders, such as `/users/{id}`.
    public var route: String
    /// The part of the program that made the request; see ``HTTPRequest/metricModule``.
    public var module: String?
    /// The place in the program that made the request; see ``HTTPRequest/metricOrigin``.
    public var origin: String?
    /// The tags of the tap and of the request; see ``HTTPRequest/metricTags``.
    public var tags: [String: String]
    /// The number of attempts.
    public var attempts: Int
    /// The bytes of the request's body that the last attempt sent; nil if the terminal does not report them.
    public var bytesSent: Int64?
    /// The bytes of the response's body that the last attempt received; nil if the terminal does not report them, or if the body
    /// was still arriving.
    public var bytesReceived: Int64?
    /// The time from the start of the last attempt's transfer to the head of its response; nil if not reported.
    public var timeToFirstByte: Duration?
    /// The protocol, such as `http/1.1`; nil if the terminal does not report it.
    public var networkProtocol: String?
    /// The phases of the last attempt's transfer; nil if they are not recorded or not reported.
    public var phases: TransferPhases?
    /// The status of the response, also of a response that was refused; nil if none arrived.
    public var status: HTTPStatus?
    /// The trace of the last attempt, if a ``TraceContext`` below the tap has made one that is recorded.
    public var traceID: TraceID?
    /// The span of the last attempt in that trace.
    public var spanID: SpanID?
    /// How the request ended.
    public var outcome: Outcome
    /// The share of all tasks that the tap measures: one metric stands for `1 / samplingRate` tasks.
    public var samplingRate: Double

    /// Makes a metric, as for a test of a sink; omitted values are unknown or none.
    public init(
        start: Date, duration: Duration, waiting: Duration = .zero, method: HTTPMethod = .get, scheme: String = "https",
        host: String, port: Int? = nil, route: String, module: String? = nil, origin: String? = nil,
        tags: [String: String] = [:], attempts: Int = 1, bytesSent: Int64? = nil, bytesReceived: Int64? = nil,
        timeToFirstByte: Duration? = nil, networkProtocol: String? = nil, phases: TransferPhases? = nil,
        status: HTTPStatus? = nil, traceID: TraceID? = nil, spanID: SpanID? = nil, outcome: Outcome,
        samplingRate: Double = 1
    ) {
        self.start = start
        self.duration = duration
        self.waiting = waiting
        self.method = method
        self.scheme = scheme
        self.host = host
        self.port = port
        self.route = route
        self.module = module
        self.origin = origin
        self.tags = tags
        self.attempts = attempts
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.timeToFirstByte = timeToFirstByte
        self.networkProtocol = networkProtocol
        self.phases = phases
        self.status = status
        self.traceID = traceID
        self.spanID = spanID
        self.outcome = outcome
        self.samplingRate = samplingRate
    }
}

extension HTTPMetric: CustomStringConvertible {
    /// The request, its outcome and its times, such as `GET api.example.com/users/{id}: 200 OK in 41.5 ms`.
    public var description: String {
        var text = "\(method) \(host)\(route): \(outcome.text) in \(duration.inMilliseconds)"
        if waiting > .zero { text += ", of which it waited \(waiting.inMilliseconds)" }
        if attempts > 1 { text += ", attempts \(attempts)" }
        return ASCII.printable(text)
    }
}

extension HTTPMetric.Outcome {
    /// The status, or why there is none.
    fileprivate var text: String {
        switch self {
        case .response(let status): "\(status)"
        case .failed(let code): "\(code)"
        case .cancelled, .reset, .unparsable: "\(kind)"
        case .rejected(let code, let loader): loader.map { "\(code) by \($0)" } ?? "\(code)"
        }
    }
}

extension HTTPMetric {
    /// How a request ended.
    public enum Outcome: Hashable, Sendable {
        /// A response with this status arrived, whatever the status.
        ///
        /// This includes a response that was refused for a status other than success.
        case response(HTTPStatus)
        /// The transport delivered no response, or only a part of one.
        case failed(HTTPError.Code)
        /// The task was cancelled.
        case cancelled
        /// A reset ended it.
        case reset
        /// The client could not parse the response.
        case unparsable
        /// A loader refused the request, or a response with a success status; the code gives the reason, and the name is the loader's.
        case rejected(HTTPError.Code, by: String?)
    }
}

extension HTTPMetric.Outcome {
    /// The outcome of a task's result.
    ///
    /// A code that the transport does not use, and that has no case of its own, was made by a loader that refused the task.
    public init(_ result: HTTPResult) {
        switch result {
        case .success(let response): self = .response(response.status)
        case .failure(let error): self.init(error)
        }
    }

    // Out of line, because most results are successes.
    @inline(never)
    private init(_ error: HTTPError) {
        switch ResultMeaning(error.code) {
        case .stopped: self = error.code == .cancelled ? .cancelled : .reset
        case .outOfTime, .unreachable, .lost, .insecure, .notTaken: self = .failed(error.code)
        case .unknown where error.code == .unknown: self = .failed(error.code)
        case .useless where error.code == .cannotDecodeResponse: self = .unparsable
        case .useless:
            // The status explains more than the fact that a loader refused it.
            if let status = error.response?.status, !status.isSuccess {
                self = .response(status)
            } else {
                self = .rejected(error.code, by: error.loader)
            }
        case .answered, .heldBack, .unsendable, .unauthorized, .unknown:
            self = .rejected(error.code, by: error.loader)
        }
    }

    /// A kind of outcome, for counts.
    public enum Kind: Int, Hashable, Sendable, CaseIterable {
        /// A response with a success status, or an informational one.
        case success
        /// A response that redirects, or says that nothing has changed.
        case redirection
        /// A response that blames the request.
        case clientError
        /// A response that blames the server, or a number that is not a status.
        case serverError
        /// No response.
        case failed
        /// Cancelled.
        case cancelled
        /// Ended by a reset.
        case reset
        /// A response that could not be parsed.
        case unparsable
        /// Refused by a loader.
        case rejected

        /// Whether it counts as an error; a cancel and a reset count neither way.
        public var isError: Bool {
            switch self {
            case .clientError, .serverError, .failed, .unparsable, .rejected: true
            case .success, .redirection, .cancelled, .reset: false
            }
        }

        /// Whether it says something about the server; a request that was cancelled or reset here took as long as it was let.
        package var isJudged: Bool { self != .cancelled && self != .reset }
    }

    /// The kind of this outcome.
    public var kind: Kind {
        switch self {
        case .response(let status): Kind(status)
        case .failed: .failed
        case .cancelled: .cancelled
        case .reset: .reset
        case .unparsable: .unparsable
        case .rejected: .rejected
        }
    }

    /// The error in one word: the status or the error's code; nil if there was none.
    public var errorType: String? {
        switch self {
        case .response(let status): kind.isError ? "\(status.rawValue)" : nil
        case .failed(let code), .rejected(let code, by: _): code.rawValue
        case .cancelled: HTTPError.Code.cancelled.rawValue
        case .reset: HTTPError.Code.resetInProgress.rawValue
        case .unparsable: HTTPError.Code.cannotDecodeResponse.rawValue
        }
    }
}

extension HTTPMetric.Outcome.Kind {
    fileprivate init(_ status: HTTPStatus) {
        switch status.rawValue {
        case 100..<300: self = .success
        case 300..<400: self = .redirection
        case 400..<500: self = .clientError
        default: self = .serverError
        }
    }
}

extension HTTPMetric {
    /// The attributes that OpenTelemetry's conventions for HTTP clients define for this request.
    ///
    /// Unknown values are left out. The guide on metrics has the table, and lists what the conventions do not cover.
    public var openTelemetryAttributes: [String: String] {
        var attributes = [
            "http.request.method": method.nameInOpenTelemetry,
            "url.scheme": scheme,
            "server.address": host,
            "url.template": route,
        ]
        if method.nameInOpenTelemetry != method.rawValue {
            attributes["http.request.method_original"] = method.rawValue
        }
        if let port { attributes["server.port"] = "\(port)" }
        if let status { attributes["http.response.status_code"] = "\(status.rawValue)" }
        // A cancel by the caller, or a reset, is not an error (since 1.41).
        if outcome.kind.isError { attributes["error.type"] = outcome.errorType }
        if attempts > 1 { attributes["http.request.resend_count"] = "\(attempts - 1)" }
        if let bytesSent { attributes["http.request.body.size"] = "\(bytesSent)" }
        if let bytesReceived { attributes["http.response.body.size"] = "\(bytesReceived)" }
        if let networkProtocol {
            let parts = Self.nameAndVersion(of: networkProtocol)
            attributes["network.protocol.name"] = parts.name
            attributes["network.protocol.version"] = parts.version
        }
        return attributes
    }

    /// Splits `http/1.1`, and the names that TLS has for later versions, into name and version.
    private static func nameAndVersion(of networkProtocol: String) -> (name: String, version: String?) {
        switch networkProtocol.lowercased() {
        case "h2", "h2c": return ("http", "2")
        case "h3": return ("http", "3")
        case let text:
            let parts = text.split(separator: "/", maxSplits: 1)
            return (parts.first.map(String.init) ?? text, parts.count > 1 ? String(parts[1]) : nil)
        }
    }
}

extension HTTPMethod {
    private static let namesInOpenTelemetry: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    /// The method as the attribute `http.request.method` has it: `_OTHER` for one that is not known, so that there are few.
    var nameInOpenTelemetry: String { Self.namesInOpenTelemetry.contains(rawValue) ? rawValue : "_OTHER" }
}
