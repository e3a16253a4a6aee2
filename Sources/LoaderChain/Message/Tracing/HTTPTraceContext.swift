// Message/Tracing: the trace that a request belongs to, and how headers tell it. It may use Message and Support.

/// The span that a request belongs to, as programs tell it to each other: identifiers, flags, state and baggage.
///
/// A server reads the context of a request that it has received, and makes it the context of everything it sends
/// meanwhile:
///
/// ```swift
/// let answer = try await HTTPTraceContext.$current.withValue(request.traceContext) {
///     try await chain.load(HTTPRequest(host: "api.example.com"))
/// }
/// ```
///
/// A program that begins a trace makes the context itself. ``TraceContext`` is the loader that sends it.
public struct HTTPTraceContext: Hashable, Sendable {
    /// The trace.
    public var traceID: TraceID
    /// The span; the parent of what is sent.
    public var spanID: SpanID
    /// Whether the trace is recorded, and whether its identifier is random.
    public var flags: Flags
    /// What tracing systems say to themselves along the way.
    public var state: State
    /// Values of the program for every server along the way.
    public var baggage: Baggage

    /// The context of the Swift task; nil if there is none.
    ///
    /// A request that is loaded meanwhile belongs to it, unless the request has its own
    /// ``HTTPRequest/traceParent``. It is read when the request is loaded, so the request may wait and be retried elsewhere.
    @TaskLocal public static var current: HTTPTraceContext?

    /// Makes a context; by default that of a new trace with a random identifier.
    public init(
        traceID: TraceID, spanID: SpanID, flags: Flags = .sampled, state: State = State(), baggage: Baggage = Baggage()
    ) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
        self.state = state
        self.baggage = baggage
    }

    /// Makes the context of the first span of a new trace.
    ///
    /// - Parameters:
    ///   - isSampled: whether the trace is recorded.
    ///   - random: makes the identifiers.
    public init(isSampled: Bool = true, random: RandomSource = .system) {
        self.init(
            traceID: TraceID(random: random), spanID: SpanID(random: random),
            flags: isSampled ? [.sampled, .random] : .random)
    }

    /// What is known of a trace besides its identifiers; the bits of `traceparent`'s last field.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes flags of their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The caller records the trace.
        public static let sampled = Flags(rawValue: 1)
        /// The last seven bytes of the trace's identifier are random.
        public static let random = Flags(rawValue: 2)
    }
}

extension HTTPTraceContext {
    /// Reads the context from the headers of a message: `traceparent` with `tracestate`, or B3, and `baggage`.
    ///
    /// It is nil without a valid identifier of a trace and a span. A `tracestate` that is not valid is left out.
    public init?(_ headers: HTTPHeaders) {
        guard var context = Self.w3c(headers) ?? Self.b3(headers) else { return nil }
        context.baggage = Baggage(headers)
        self = context
    }
}
