// Metrics/Records: what is told about a request, an event or a trace, as values. It may use Message and Support.

import LoaderChainPlatformFoundation

/// The measurement of one request: when, how long, where to, how much, and how it ended.
///
/// A ``MetricsTap`` emits one for every task that passes it. It holds no query, fragment, user, password, header or
/// body, and its ``route`` has placeholders for the parts that differ from user to user.
public struct HTTPMetric: Sendable {
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
    /// The host in lowercase; empty where no loader filled it in.
    public var host: String
    /// The port, also where it is the scheme's own; nil for a scheme other than HTTP's.
    public var port: Int?
    /// The request's ``HTTPRequest/route``, or its path with placeholders, such as `/users/{id}`.
    public var route: String
    /// The part of the program that made the request; see ``HTTPRequest/metricModule``.
    public var module: String?
    /// The place in the program that made the request; see ``HTTPRequest/metricOrigin``.
    public var origin: String?
    /// The tags of the tap and of the request; see ``HTTPRequest/metricTags``.
    public var tags: [String: String]
    /// How many attempts were made.
    public var attempts: Int
    /// The bytes of the request's body that the last attempt sent; nil where the terminal does not report them.
    public var bytesSent: Int64?
    /// The bytes of the response's body that the last attempt received; nil where the terminal does not report them.
    public var bytesReceived: Int64?
    /// The time from the start of the last attempt's transfer to the head of its response; nil where not reported.
    public var timeToFirstByte: Duration?
    /// The protocol, such as `http/1.1`; nil where the terminal does not report it.
    public var networkProtocol: String?
    /// Where the time of the last attempt's transfer went; nil where it is not recorded or not reported.
    public var phases: TransferPhases?
    /// The status of the response, also of a response that was refused; nil where none arrived.
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
