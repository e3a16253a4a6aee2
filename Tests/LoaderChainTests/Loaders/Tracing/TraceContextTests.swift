import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct TraceContextTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()
    private let parent = HTTPTraceContext(random: RandomSource(seed: 1))

    private func tracing(
        hosts: TracedHosts = ["example.com"], _ formats: TraceContext.Formats = [.w3c, .baggage],
        _ sampler: TraceSampler = .parent()
    ) -> TraceContext {
        TraceContext(hosts: hosts, formats: formats, sampler: sampler, random: RandomSource(seed: 7))
    }

    private var sent: [HTTPHeaders] { terminal.requests.map(\.headers) }

    private func load(_ request: HTTPRequest = .sample, with loader: HTTPLoader) {
        (loader --> terminal).load(request: request) { _ in }
        for task in terminal.held { terminal.answer(task) }
    }

    // MARK: The parent

    @Test func eachAttemptIsSpanOfTheParentTrace() throws {
        let strategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: 3)
        var request = HTTPRequest.sample
        request.traceParent = parent
        (Retry(strategy, timers: timers) --> tracing() --> terminal).load(request: request) { _ in }
        for _ in 0..<3 {
            for task in terminal.held { terminal.refuse(task, .connectionLost) }
            timers.advance(by: .seconds(1))
        }
        let contexts = terminal.requests.compactMap(\.traceContext)
        #expect(contexts.count == 3 && contexts.allSatisfy { $0.traceID == parent.traceID })
        #expect(Set(contexts.map(\.spanID)).union([parent.spanID]).count == 4)
        #expect(
            terminal.requests.map { $0.attemptTrace?.parent } == [
                parent.spanID, parent.spanID, parent.spanID,
            ])
    }

    @Test func attemptsWithoutParentShareOneTrace() {
        let strategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: 2)
        let chain =
            Retry(strategy, timers: timers) --> Retry(.never) --> tracing() --> terminal
        for _ in 0..<2 {
            chain.load(request: .sample) { _ in }
            for _ in 0..<2 {
                for task in terminal.held { terminal.refuse(task, .connectionLost) }
                timers.advance(by: .seconds(1))
            }
        }
        let contexts = terminal.requests.compactMap(\.traceContext)
        #expect(contexts.count == 4 && Set(contexts.map(\.spanID)).count == 4)
        #expect(contexts[0].traceID == contexts[1].traceID && contexts[2].traceID == contexts[3].traceID)
        #expect(contexts[0].traceID != contexts[2].traceID)
        #expect(contexts.allSatisfy { $0.flags == [.sampled, .random] })
        #expect(terminal.requests.allSatisfy { $0.attemptTrace?.parent == nil })
    }

    @Test func concurrentAttemptsShareOneTrace() {
        let tracing = TraceContext(hosts: ["example.com"])
        let chain = tracing --> terminal
        for _ in 0..<20 {
            let before = terminal.requests.count
            let task = HTTPTask(request: .sample) { _ in }
            DispatchQueue.concurrentPerform(iterations: 8) { _ in chain.load(task: task.makeAttempt()) }
            let traces = terminal.requests[before...].map { $0.traceContext?.traceID }
            #expect(traces.count == 8 && Set(traces).count == 1)
            for task in terminal.held { terminal.answer(task) }
            task.complete(.sample)
        }
    }

    @Test func taskLocalContextIsReadOnLoad() {
        let chain = Throttle(maximumNumberOfRequests: 1) --> tracing() --> terminal
        chain.load(request: .sample) { _ in }
        HTTPTraceContext.$current.withValue(parent) {
            _ = chain.load(request: .sample) { _ in }
            var own = HTTPRequest.sample
            own.traceParent = HTTPTraceContext(random: RandomSource(seed: 2))
            _ = chain.load(request: own) { _ in }
        }
        terminal.answerAll()
        let traces = terminal.requests.map { $0.traceContext?.traceID }
        #expect(traces.count == 3 && traces[0] != parent.traceID && traces[1] == parent.traceID)
        #expect(traces[2] == HTTPTraceContext(random: RandomSource(seed: 2)).traceID)
    }

    @Test func asyncLoadUsesTaskLocalContext() async throws {
        let chain = tracing() --> ScriptedTerminal { _ in .success(.ok) }
        let response = try await HTTPTraceContext.$current.withValue(parent) { try await chain.load(.sample) }
        #expect(response.request.traceContext?.traceID == parent.traceID)
        #expect(try await chain.load(.sample).request.traceContext?.traceID != parent.traceID)
    }

    @Test func existingTraceHeaderIsKept() throws {
        var request = HTTPRequest.sample
        request.headers["Traceparent"] = parent.traceParent
        load(request, with: tracing(.all, [.w3c, .b3], .always))
        #expect(sent.first?.values(for: "traceparent") == [parent.traceParent])
        #expect(terminal.requests.first?.attemptTrace?.parent == parent.spanID)
        // The state of another trace is not added to it.
        var other = parent
        other.state.set("a", to: "1")
        request.traceParent = other
        load(request, with: tracing())
        #expect(sent.last?.contains("tracestate") == false)
    }

    @Test func invalidTraceHeaderIsKept() {
        var request = HTTPRequest.sample
        request.headers["traceparent"] = "nonsense"
        load(request, with: tracing())
        #expect(sent.first?.values(for: "traceparent") == ["nonsense"])
    }

    // MARK: The headers

    @Test func stateAndBaggageAreSent() {
        var request = HTTPRequest.sample
        var parent = parent
        parent.state.set("a", to: "1")
        parent.baggage.set("user-tier", to: "gold card")
        request.traceParent = parent
        load(request, with: tracing())
        #expect(sent.first?["tracestate"] == "a=1" && sent.first?["baggage"] == "user-tier=gold%20card")
        load(request, with: tracing(.w3c))
        #expect(sent.last?.contains("baggage") == false && sent.last?.contains("traceparent") == true)
    }

    @Test func b3HeadersAreSentIfConfigured() throws {
        var request = HTTPRequest.sample
        request.traceParent = parent
        load(request, with: tracing([.b3, .b3Multi]))
        let headers = try #require(sent.first)
        let span = try #require(terminal.requests.first?.attemptTrace?.context.spanID)
        #expect(headers["b3"] == "\(parent.traceID)-\(span)-1")
        #expect(headers["X-B3-TraceId"] == "\(parent.traceID)" && headers["X-B3-SpanId"] == "\(span)")
        #expect(headers["X-B3-ParentSpanId"] == "\(parent.spanID)" && headers["X-B3-Sampled"] == "1")
        #expect(!headers.contains("traceparent") && HTTPTraceContext(headers)?.spanID == span)
        load(.sample, with: tracing(.b3Multi, .never))
        #expect(sent.last?.contains("X-B3-ParentSpanId") == false && sent.last?["X-B3-Sampled"] == "0")
    }

    private func tracing(_ formats: TraceContext.Formats, _ sampler: TraceSampler = .parent()) -> TraceContext {
        tracing(hosts: .all, formats, sampler)
    }

    private func tracing(
        _ hosts: TracedHosts, _ formats: TraceContext.Formats, _ sampler: TraceSampler
    ) -> TraceContext {
        tracing(hosts: hosts, formats, sampler)
    }

    // MARK: The hosts

    @Test(arguments: [
        ("api.example.com", true), ("API.EXAMPLE.COM", true), ("a.b.files.example.com", true),
        ("example.com", false), ("files.example.com", false), ("xfiles.example.com", false),
        ("api.example.com.evil.test", false), ("evil.test", false),
    ])
    func onlyListedHostsReceiveTraceHeaders(_ host: String, _ isListed: Bool) {
        let hosts: TracedHosts = ["api.example.com", "*.Files.example.com"]
        var parent = parent
        parent.baggage.set("a", to: "1")
        var request = HTTPRequest(host: host, path: "/")
        request.traceParent = parent
        load(request, with: tracing(hosts: hosts, [.w3c, .baggage, .b3, .b3Multi]))
        #expect(sent.first?.contains("traceparent") == isListed)
        #expect(sent.first?.isEmpty == !isListed)
        #expect(terminal.requests.first?.attemptTrace?.context.traceID == parent.traceID)
    }

    @Test func redirectToUnlistedHostDropsAddedHeaders() throws {
        var request = HTTPRequest.sample
        request.headers["baggage"] = "own=1"
        load(request, with: tracing([.w3c, .baggage, .b3, .b3Multi]))
        var next = try #require(terminal.requests.first)
        next.host = "other.example.com"
        next.removeTraceFromForeignHost()
        #expect(next.headers.contains("traceparent"))

        load(request, with: tracing(hosts: ["example.com", "*.example.com"], [.w3c, .baggage, .b3, .b3Multi]))
        next = try #require(terminal.requests.last)
        next.host = "other.example.com"
        next.removeTraceFromForeignHost()
        #expect(next.headers.contains("traceparent") && next.headers.contains("b3"))
        next.host = "evil.test"
        next.removeTraceFromForeignHost()
        #expect(next.headers.map(\.name) == ["baggage"])
    }

    // MARK: Sampling

    @Test func samplerSetsTheSampledFlag() {
        func isSampled(_ sampler: TraceSampler, parent: HTTPTraceContext?) -> Bool? {
            var request = HTTPRequest.sample
            request.traceParent = parent
            load(request, with: tracing([.w3c], sampler))
            return terminal.requests.last?.traceContext?.flags.contains(.sampled)
        }
        var unsampled = parent
        unsampled.flags = .random
        #expect(isSampled(.always, parent: unsampled) == true && isSampled(.always, parent: nil) == true)
        #expect(isSampled(.never, parent: parent) == false && isSampled(.never, parent: nil) == false)
        #expect(isSampled(.parent(), parent: unsampled) == false && isSampled(.parent(), parent: parent) == true)
        #expect(isSampled(.parent(), parent: nil) == true)
        #expect(isSampled(.parent(otherwise: .never), parent: nil) == false)
        #expect(isSampled(.parent(otherwise: .never), parent: parent) == true)
        #expect(terminal.requests.last?.traceContext?.flags.contains(.random) == true)
    }

    @Test func largerRatioIncludesTracesOfSmaller() {
        let random = RandomSource(seed: 4)
        let traces = (0..<4_000).map { _ in TraceID(random: random) }
        var recorded: Set<TraceID> = []
        for share in [0.01, 0.25, 0.5, 0.9, 1] {
            let sample = Set(traces.filter { TraceSampler.ratio(share).records($0, parent: nil) })
            #expect(recorded.isSubset(of: sample))
            #expect(abs(Double(sample.count) / 4_000 - share) < 0.03)
            recorded = sample
        }
        #expect(recorded.count == traces.count)
        #expect(
            TraceSampler.ratio(.nan) == .always && TraceSampler.ratio(-1) == .never && TraceSampler.ratio(7) == .always)
        #expect(!traces.contains { TraceSampler.never.records($0, parent: true) })
        #expect(TraceSampler.always.records(TraceID(high: 1, low: 0)!, parent: false))
    }

    @Test func detailsListSentHeaders() {
        #expect(tracing([.w3c, .b3Multi]).details == "traceparent, X-B3")
    }
}
