/// Sends the trace of a request to servers, so that their spans and those of the program become one trace.
///
/// ```swift
/// let tracing = TraceContext(hosts: ["api.example.com"])
/// let chain = retry --> tracing --> terminal
///
/// request.traceParent = HTTPTraceContext()  // Or HTTPTraceContext.$current, for all requests of a Swift task.
/// ```
///
/// **What it sends.** `traceparent` and `tracestate` (W3C Trace Context, level 2) and `baggage`, or the headers of B3. Each
/// task gets a new span identifier, so this loader belongs below ``Retry`` and ``Hedge``: then the server sees each attempt as
/// a span of its own. The trace is that of ``HTTPRequest/traceParent`` or of ``HTTPTraceContext/current``. Without either, the
/// attempts of a request are a trace of their own. Traces that are not recorded are sent too, because the server has to know
/// that.
///
/// **Where to.** Only to the hosts that are listed, also after a redirect. So it belongs below the loader that fills in the
/// host. A request that has one of the headers already keeps it.
///
/// This loader never fails a request.
public final class TraceContext: HTTPLoader, @unchecked Sendable {
    private let hosts: TracedHosts
    private let formats: Formats
    private let sampler: TraceSampler
    private let random: RandomSource

    /// The headers that carry a trace.
    public struct Formats: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Makes a set of its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `traceparent` and `tracestate`.
        public static let w3c = Formats(rawValue: 1)
        /// `baggage`.
        public static let baggage = Formats(rawValue: 2)
        /// `b3`.
        public static let b3 = Formats(rawValue: 4)
        /// `X-B3-TraceId`, `X-B3-SpanId`, `X-B3-ParentSpanId` and `X-B3-Sampled`.
        public static let b3Multi = Formats(rawValue: 8)
    }

    /// Makes a loader that sends the trace to some hosts.
    ///
    /// - Parameters:
    ///   - hosts: the hosts that get it.
    ///   - formats: the headers that carry it.
    ///   - sampler: the choice of traces that are recorded; by default those that the parent records, and all without a parent.
    ///   - random: makes the identifiers.
    public init(
        hosts: TracedHosts, formats: Formats = [.w3c, .baggage], sampler: TraceSampler = .parent(),
        random: RandomSource = .system
    ) {
        self.hosts = hosts
        self.formats = formats
        self.sampler = sampler
        self.random = random
        TraceCapture.begin()
    }

    public override func load(task: HTTPTask) {
        var request = task.request
        var trace = makeTrace(for: task, request)
        if hosts.patterns.contain(request.host) {
            for (format, _) in Self.names where formats.contains(format) {
                write(&trace, in: format, by: &request)
            }
        }
        request[option: AttemptTraceOption.self] = trace
        task.request = request
        super.load(task: task)
    }

    /// The headers.
    public override var details: String {
        Self.names.filter { formats.contains($0.format) }.map(\.name).joined(separator: ", ")
    }

    private static let names: [(format: Formats, name: String)] = [
        (.w3c, "traceparent"), (.baggage, "baggage"), (.b3, "b3"), (.b3Multi, "X-B3"),
    ]

    private func makeTrace(for task: HTTPTask, _ request: HTTPRequest) -> AttemptTrace {
        let given = request.traceParent ?? request.traceContext
        // The attempts of one request belong together.
        let shared = task.sharedOption(SharedTraceOption.self) { given ?? HTTPTraceContext(random: random) }
        var context = given ?? shared
        setSampled(&context, parent: given?.flags.contains(.sampled))
        context.spanID = SpanID(random: random)
        return AttemptTrace(context: context, parent: given?.spanID, hosts: hosts.patterns)
    }

    private func setSampled(_ context: inout HTTPTraceContext, parent: Bool?) {
        if sampler.records(context.traceID, parent: parent) {
            context.flags.insert(.sampled)
        } else {
            context.flags.remove(.sampled)
        }
    }

    /// Sets the headers of one format; a request that has one of them keeps it, and gets no other of that format.
    private func write(_ trace: inout AttemptTrace, in format: Formats, by request: inout HTTPRequest) {
        let fields = fields(of: trace, in: format)
        if fields.contains(where: { request.headers.contains($0.name) }) { return }
        for field in fields {
            request.headers.append(field.value, for: field.name)
            trace.fields.append(field.name)
        }
    }

    private func fields(of trace: AttemptTrace, in format: Formats) -> [HTTPHeaders.Field] {
        let context = trace.context
        func field(_ name: String, _ value: String?) -> [HTTPHeaders.Field] {
            value.map { [HTTPHeaders.Field(name, $0)] } ?? []
        }
        switch format {
        case .w3c:
            return field(HTTPTraceContext.parentFieldName, context.traceParent)
                + field(HTTPTraceContext.State.fieldName, context.state.fieldValue)
        case .baggage: return field(HTTPTraceContext.Baggage.fieldName, context.baggage.fieldValue)
        case .b3: return field(B3.single, context.b3)
        default: return context.b3Fields(parent: trace.parent)
        }
    }
}

/// The trace that the attempts of a caller's task share, in that task; its span is not used.
private enum SharedTraceOption: HTTPRequestOption {
    static var defaultOptionValue: HTTPTraceContext? { nil }
}

/// The hosts that learn which trace a request belongs to.
///
/// ```swift
/// let hosts: TracedHosts = ["api.example.com", "*.internal.example.com"]
/// ```
///
/// A name matches itself, in any case and on any port; a name that begins with `*.` matches every name below it. Other
/// servers would learn which requests belong together, and could read the baggage.
public struct TracedHosts: Hashable, Sendable, ExpressibleByArrayLiteral {
    fileprivate let patterns: HostPatterns

    private init(_ patterns: HostPatterns) { self.patterns = patterns }

    /// The hosts with these names.
    public init(_ names: some Sequence<String>) { self.init(HostPatterns(names)) }

    /// The hosts with these names.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// All hosts; for chains that never load an address from another source.
    public static let all = TracedHosts(.all)
}

/// Decides which traces are recorded.
///
/// ```swift
/// let sampler = TraceSampler.parent(otherwise: .ratio(0.1))
/// ```
public struct TraceSampler: Hashable, Sendable {
    /// The least value of a trace's last 56 bits for which the trace is recorded; nil for no trace.
    private let threshold: UInt64?
    private var followsParent = false

    /// Records every trace, also where the parent does not.
    public static let always = TraceSampler.ratio(1)

    /// Records no trace, also where the parent does.
    public static let never = TraceSampler.ratio(0)

    /// Records a share of all traces, from 0 to 1; NaN stands for 1.
    ///
    /// The trace's identifier decides, so that all programs with the same share record the same traces.
    public static func ratio(_ share: Double) -> TraceSampler {
        let share = share.isNaN ? 1 : min(max(0, share), 1)
        // The product is at most 2⁵⁶, so it fits.
        return TraceSampler(threshold: share == 0 ? nil : UInt64(((1 - share) * 0x1p56).rounded()))
    }

    /// Records what the parent records; for a request without one, `sampler` decides.
    public static func parent(otherwise sampler: TraceSampler = .always) -> TraceSampler {
        var sampler = sampler
        sampler.followsParent = true
        return sampler
    }

    private init(threshold: UInt64?) { self.threshold = threshold }

    /// Whether a trace is recorded.
    ///
    /// - Parameters:
    ///   - traceID: the trace.
    ///   - parent: whether the parent records it; nil without a parent.
    public func records(_ traceID: TraceID, parent: Bool?) -> Bool {
        if followsParent, let parent { return parent }
        guard let threshold else { return false }
        // The first byte need not be random (W3C Trace Context, level 2).
        return traceID.low & 0x00FF_FFFF_FFFF_FFFF >= threshold
    }
}
