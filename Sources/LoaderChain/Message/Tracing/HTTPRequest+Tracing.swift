import Synchronization

/// The span that a request belongs to; nil, the default, for the one of the Swift task.
public enum TraceParentOption: HTTPRequestOption {
    /// The one of the Swift task.
    public static var defaultOptionValue: HTTPTraceContext? { nil }
}

extension HTTPRequest {
    /// The span that the request belongs to, and that the spans of its attempts have as their parent.
    ///
    /// Where it is nil, ``HTTPTraceContext/current`` takes its place when the request is loaded. The loader ``TraceContext``
    /// sends it.
    public var traceParent: HTTPTraceContext? {
        get { self[option: TraceParentOption.self] }
        set { self[option: TraceParentOption.self] = newValue }
    }

    /// The context that the headers of the request tell; nil if they tell none, or one that is not valid.
    ///
    /// A server reads with it what it has received; in a response's ``HTTPResponse/request``, it is what was sent.
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

/// The span of one attempt.
package struct AttemptTrace: Sendable {
    /// The span.
    package let context: HTTPTraceContext
    /// The span that it is a part of; nil for one that began the trace.
    package let parent: SpanID?
    /// Which attempt of the caller's task it is, counted from one.
    package let number: Int
    /// The hosts that may know of it.
    let hosts: HostPatterns
    /// The names of the headers that tell it.
    var fields: [String] = []
}

/// The span of an attempt, in the request of the attempt; nil above the loader that makes it.
enum AttemptTraceOption: HTTPRequestOption {
    static var defaultOptionValue: AttemptTrace? { nil }
}

extension HTTPRequest {
    /// The span of the attempt that the request is for; nil above the loader that makes it.
    package var attemptTrace: AttemptTrace? { self[option: AttemptTraceOption.self] }

    /// Removes the headers that tell the trace unless the host may know of it, as after a redirect to another one.
    package mutating func removeTraceFromForeignHost() {
        guard let trace = self[option: AttemptTraceOption.self], !trace.hosts.contain(host) else { return }
        for name in trace.fields { headers.remove(name) }
    }
}
