// Message/Tracing: the trace that a request belongs to, and its headers. It may use Message and Support.

import Synchronization

/// The span that a request belongs to, as programs exchange it: identifiers, flags, state and baggage.
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
    /// The private values of tracing systems along the way.
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

    /// The flags of a trace; the bits of `traceparent`'s last field.
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

/// The identifier of a trace, 128 bits: all operations that one cause has led to, in all programs.
///
/// Its description is the 32 hexadecimal digits that headers and exporters have.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// Makes an identifier of its two halves; nil if both are zero, which no trace has.
    public init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// Makes a random identifier.
    public init(random: RandomSource = .system) {
        high = random.next()
        let low = random.next()
        self.low = high == 0 && low == 0 ? 1 : low
    }

    /// Reads 32 hexadecimal digits in either case; nil for anything else, and for zero.
    public init?(_ text: String) { self.init(text[...].utf8) }

    init?(_ digits: Substring.UTF8View) {
        guard digits.count == 32, let high = Hexadecimal.value(of: digits.prefix(16)),
            let low = Hexadecimal.value(of: digits.suffix(16))
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The 32 hexadecimal digits.
    public var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// The identifier of a span, 64 bits: one operation of a trace, such as an attempt to send a request.
///
/// Its description is the 16 hexadecimal digits that headers and exporters have.
public struct SpanID: Hashable, Sendable, CustomStringConvertible {
    /// The 64 bits, which are not all zero.
    public let value: UInt64

    /// Makes an identifier of its bits; nil for zero, which no span has.
    public init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// Makes a random identifier.
    public init(random: RandomSource = .system) {
        let value = random.next()
        self.value = value == 0 ? 1 : value
    }

    /// Reads 16 hexadecimal digits in either case; nil for anything else, and for zero.
    public init?(_ text: String) { self.init(text[...].utf8) }

    init?(_ digits: Substring.UTF8View) {
        guard digits.count == Self.digits, let value = Hexadecimal.value(of: digits) else { return nil }
        self.init(value)
    }

    /// The 16 hexadecimal digits.
    public var description: String { Hexadecimal.text(value) }

    static var digits: Int { 16 }
}

/// The span that a request belongs to; nil, the default, for that of the Swift task.
package enum TraceParentOption: HTTPRequestOption {
    package static var defaultOptionValue: HTTPTraceContext? { nil }
}

extension HTTPRequest {
    /// The span that the request belongs to, and that the spans of its attempts have as their parent.
    ///
    /// If it is nil, ``HTTPTraceContext/current`` is used when the request is loaded. The loader ``TraceContext`` sends it.
    public var traceParent: HTTPTraceContext? {
        get { self[option: TraceParentOption.self] }
        set { self[option: TraceParentOption.self] = newValue }
    }

    /// The context in the headers of the request; nil if they have none, or it is not valid.
    ///
    /// A server uses it to read the context that it has received; in a response's ``HTTPResponse/request``, it is the context
    /// that was sent.
    public var traceContext: HTTPTraceContext? { HTTPTraceContext(headers) }
}

// MARK: - The Swift task's context

/// Whether requests take over the context of the Swift task, which programs without a `TraceContext` need not pay for.
enum TraceCapture {
    private static let isWanted = Atomic(false)

    /// Relaxed, because nothing else depends on it.
    static var isOn: Bool {
        @inline(__always) get { isWanted.load(ordering: .relaxed) }
    }

    static func begin() { isWanted.store(true, ordering: .relaxed) }
}

extension HTTPRequest {
    /// The request with the Swift task's context as its parent, unless it has a parent or there is no context.
    var withCurrentTrace: HTTPRequest {
        guard let current = HTTPTraceContext.current, traceParent == nil else { return self }
        var request = self
        request.traceParent = current
        return request
    }
}

// MARK: - One attempt

package struct AttemptTrace: Sendable {
    package let context: HTTPTraceContext
    /// The span that it is a part of; nil for one that began the trace.
    package let parent: SpanID?
    /// The hosts that may know of it.
    let hosts: HostPatterns
    /// The names of the headers that carry it.
    var fields: [String] = []
}

/// The span of an attempt, in the request of the attempt; nil above the loader that makes it.
enum AttemptTraceOption: HTTPRequestOption {
    static var defaultOptionValue: AttemptTrace? { nil }
}

extension HTTPRequest {
    package var attemptTrace: AttemptTrace? { self[option: AttemptTraceOption.self] }

    /// Removes the trace's headers unless the host may know of the trace, as after a redirect to another host.
    package mutating func removeTraceFromForeignHost() {
        guard let trace = attemptTrace, !trace.hosts.contain(host) else { return }
        for name in trace.fields { headers.remove(name) }
    }
}
