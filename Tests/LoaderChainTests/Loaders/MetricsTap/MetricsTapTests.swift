import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct MetricsTapTests {
    let timers = ManualTimers()
    let sink = RecordingSink()
    let terminal = ScriptedTerminal()

    private func tap(
        module: String? = nil, tags: [String: String] = [:], samplingRate: Double = 1,
        filter: (@Sendable (MetricRecord) -> Bool)? = nil
    ) -> MetricsTap {
        let recorder = MetricRecorder(
            sink, samplingRate: samplingRate, random: RandomSource(seed: 7), timers: timers, filter: filter)
        return MetricsTap(recorder, module: module, tags: tags)
    }

    private func load(_ request: HTTPRequest = .sample, with chain: HTTPLoader) -> HTTPTask {
        chain.load(request: request) { _ in }
    }

    private var only: HTTPMetric {
        get throws {
            #expect(sink.metrics.count == 1)
            return try #require(sink.metrics.first)
        }
    }

    // MARK: What it records

    @Test func requestIsRecordedWhenItEnds() throws {
        let chain = tap(module: "shop", tags: ["plan": "free", "build": "7"]) --> terminal
        var request = HTTPRequest(
            method: .post, url: URL(string: "http://ada:geheim@API.example.com:8080/users/17?token=geheim#geheim")!)
        request.metricOrigin = "profile"
        request.metricTags = ["plan": "pro"]
        let begin = timers.date
        _ = load(request, with: chain)
        timers.advance(by: .milliseconds(30))
        #expect(sink.records.isEmpty)
        let held = try #require(terminal.held.first)
        var response = HTTPResponse(request: held.request, status: .created)
        response.metrics = TransferMetrics(
            start: begin, timeToFirstByte: .milliseconds(9), bytesSent: 12, bytesReceived: 345,
            networkProtocol: "http/1.1")
        held.complete(.success(response))

        let metric = try only
        #expect(metric.start == begin && metric.duration == .milliseconds(30) && metric.waiting == .zero)
        #expect(metric.method == .post && metric.scheme == "http")
        #expect(metric.host == "api.example.com" && metric.port == 8080 && metric.route == "/users/{id}")
        #expect(metric.module == "shop" && metric.origin == "profile" && metric.tags == ["plan": "pro", "build": "7"])
        #expect(metric.attempts == 1 && metric.bytesSent == 12 && metric.bytesReceived == 345)
        #expect(metric.timeToFirstByte == .milliseconds(9) && metric.networkProtocol == "http/1.1")
        #expect(metric.status == .created && metric.outcome == .response(.created) && metric.samplingRate == 1)
        #expect(!"\(metric)".contains("geheim") && !"\(metric)".contains("ada"))
    }

    @Test func moduleOfRequestReplacesModuleOfTap() {
        let chain = tap(module: "shop") --> terminal
        var own = HTTPRequest.sample
        own.metricModule = "checkout"
        for request in [own, .sample] { _ = load(request, with: chain) }
        for held in terminal.held { terminal.answer(held) }
        #expect(sink.metrics.map(\.module) == ["checkout", "shop"])
    }

    @Test(arguments: [false, true]) func phasesAreRecordedOnlyIfEnabled(_ recordsPhases: Bool) throws {
        let phases = TransferPhases(nameLookup: .milliseconds(2), waiting: .milliseconds(7))
        let recorder = MetricRecorder(sink, timers: timers)
        let chain = MetricsTap(recorder, recordsPhases: recordsPhases) --> terminal
        _ = load(HTTPRequest(host: "a"), with: chain)
        let held = try #require(terminal.held.first)
        var response = HTTPResponse(request: held.request, status: .ok)
        response.metrics = TransferMetrics(start: timers.date, phases: phases)
        held.complete(.success(response))
        #expect(try only.phases == (recordsPhases ? phases : nil))
    }

    @Test func phasesAreDescribedAndComparedByTimes() {
        let phases = TransferPhases(queue: .zero, secureConnection: .microseconds(1_240), receiving: .seconds(2))
        #expect("\(phases)" == "queue 0.0 ms, tls 1.2 ms, receiving 2000.0 ms")
        #expect(phases == TransferPhases(queue: .zero, secureConnection: .microseconds(1_240), receiving: .seconds(2)))
        #expect(phases != TransferPhases(queue: .zero, secureConnection: .microseconds(1_240)))
        #expect(TransferPhases().description.isEmpty)
    }

    @Test func addressIsThatOfTheSentRequest() throws {
        let environment = ApplyEnvironment(environment: ServerEnvironment(host: "later.test", pathPrefix: "/v1"))
        let chain = tap() --> environment --> ScriptedTerminal { _ in .success() }
        _ = load(HTTPRequest(path: "users/5"), with: chain)
        let metric = try only
        #expect(metric.host == "later.test" && metric.route == "/v1/users/{id}" && metric.port == 443)
        #expect(metric.bytesSent == nil && metric.bytesReceived == nil && metric.networkProtocol == nil)
    }

    @Test func routeIsRecordedWithoutQueryAndFragment() throws {
        let chain = tap() --> ScriptedTerminal { _ in .success() }
        var request = HTTPRequest(host: "a", path: "/articles/why-we-wait")
        request.route = "/articles/{title}"
        _ = load(request, with: chain)
        request.route = "/articles?key=geheim"
        _ = load(request, with: chain)
        request.route = "/articles#geheim"
        _ = load(request, with: chain)
        #expect(sink.metrics.map(\.route) == ["/articles/{title}", "/articles", "/articles"])
    }

    @Test func requestIsNotRecordedIfMeasurementIsNever() {
        let chain =
            tap()
            --> ModifyRequest { request in
                var request = request
                if request.path == "/later" { request.measurement = .never }
                return request
            } --> ScriptedTerminal { _ in .success() }
        var request = HTTPRequest.sample
        request.measurement = .never
        _ = load(request, with: chain)
        _ = load(HTTPRequest(host: "a", path: "/later"), with: chain)
        #expect(sink.records.isEmpty)
        _ = load(with: chain)
        #expect(sink.records.count == 1)
    }

    // MARK: How it ended

    @Test(arguments: [
        (HTTPError.Code.timedOut, HTTPMetric.Outcome.failed(.timedOut)), (.cannotConnect, .failed(.cannotConnect)),
        (.connectionLost, .failed(.connectionLost)), (.insecureConnection, .failed(.insecureConnection)),
        (.tooManyRedirects, .failed(.tooManyRedirects)), (.responseTooLarge, .failed(.responseTooLarge)),
        (.cannotStoreResponse, .failed(.cannotStoreResponse)), (.unknown, .failed(.unknown)),
        (.resetInProgress, .reset), (.cannotDecodeResponse, .unparsable),
        (.invalidRequest, .rejected(.invalidRequest, by: "ScriptedTerminal")),
        (HTTPError.Code("overQuota"), .rejected(HTTPError.Code("overQuota"), by: "ScriptedTerminal")),
    ])
    func everyErrorCodeHasItsOutcome(code: HTTPError.Code, outcome: HTTPMetric.Outcome) throws {
        let chain = tap() --> ScriptedTerminal { _ in .failure(code) }
        _ = load(with: chain)
        let metric = try only
        #expect(metric.outcome == outcome && metric.status == nil)
        #expect(metric.outcome.errorType == code.rawValue)
    }

    @Test func cancelAndResetAreRecordedAsSuch() async {
        let chain = tap() --> Autocancel() --> Throttle(maximumNumberOfRequests: 1, timers: timers) --> terminal
        load(with: chain).cancel()
        #expect(sink.metrics.map(\.outcome) == [.cancelled])
        let guarded = tap() --> Throttle(maximumNumberOfRequests: 0, timers: timers) --> terminal
        _ = load(with: guarded)
        await guarded.reset()
        #expect(sink.metrics.map(\.outcome) == [.cancelled, .reset])
    }

    @Test func outcomeNamesRefusingLoader() throws {
        let throttle = Throttle(maximumNumberOfRequests: 0, maximumWaiting: 0, timers: timers)
        let chain = tap() --> throttle --> terminal
        _ = load(with: chain)
        #expect(try only.outcome == .rejected(.queueFull, by: "Throttle"))
    }

    @Test func undecodableResponseIsRecordedAsUnparsable() async throws {
        let chain = tap() --> Validate(.nothing) --> ScriptedTerminal { _ in .success(.ok, body: "no number") }
        await #expect(throws: HTTPError.self) { _ = try await chain.load(.sample, as: Int.self) }
        let metric = try only
        #expect(metric.outcome == .unparsable && metric.status == .ok && metric.outcome.kind == .unparsable)
    }

    @Test func refusedErrorStatusIsRecordedAsResponse() throws {
        let chain = tap() --> Validate(.success) --> ScriptedTerminal { _ in .success(.serviceUnavailable) }
        _ = load(with: chain)
        let metric = try only
        #expect(metric.outcome == .response(.serviceUnavailable) && metric.outcome.errorType == "503")
    }

    @Test func refusedSuccessStatusIsRecordedAsRejected() throws {
        let chain =
            tap() --> Validate(.contentTypes("application/json"))
            --> ScriptedTerminal { _ in
                .success(headers: ["Content-Type": "text/html"], body: "<p>")
            }
        _ = load(with: chain)
        #expect(try only.outcome == .rejected(.invalidResponse, by: "Validate"))
    }

    @Test func abandonedTaskIsRecordedAsRejected() throws {
        let chain = tap() --> terminal
        _ = load(with: chain)
        try terminal.forget(#require(terminal.held.first))
        #expect(try only.outcome == .rejected(.abandoned, by: "ScriptedTerminal"))
    }

    // MARK: What it leaves alone

    @Test func nothingIsMeasuredWithoutSink() throws {
        let chain = MetricsTap(MetricRecorder(timers: timers)) --> terminal
        let task = load(with: chain)
        #expect(!task.beginWait())
        #expect(terminal.answer(try #require(terminal.held.first)))
    }

    @Test func seedDeterminesSampledRequests() {
        let chain = tap(samplingRate: 0.25) --> ScriptedTerminal { _ in .success() }
        for _ in 0..<1_000 { _ = load(with: chain) }
        let random = RandomSource(seed: 7)
        #expect(sink.metrics.count == (0..<1_000).count { _ in random.chance(0.25) })
        #expect(sink.metrics.allSatisfy { $0.samplingRate == 0.25 })
        let none = tap(samplingRate: -1) --> ScriptedTerminal { _ in .success() }
        let count = sink.records.count
        _ = load(with: none)
        #expect(sink.records.count == count)
        #expect(MetricRecorder(samplingRate: .nan).samplingRate == 1)
    }

    @Test func filterKeepsOnlyAcceptedRecords() {
        let chain =
            tap { record in
                if case .request(let metric) = record { metric.outcome.kind.isError } else { false }
            } --> ScriptedTerminal { $0.path == "/bad" ? .failure(.timedOut) : .success() }
        _ = load(with: chain)
        _ = load(HTTPRequest(host: "a", path: "/bad"), with: chain)
        #expect(sink.metrics.map(\.route) == ["/bad"])
    }

    @Test func tapAndTaskDoNotRetainEachOther() throws {
        weak var abandoned: MetricsTap?
        weak var ended: HTTPTask?
        let held: HTTPTask
        do {
            let tap = tap()
            abandoned = tap
            let chain = tap --> terminal
            let task = load(with: chain)
            ended = task
            held = try #require(terminal.held.first)
        }
        #expect(abandoned == nil)
        #expect(terminal.answer(held))
        #expect(sink.metrics.count == 1)
        _ = consume held
        #expect(ended == nil)
    }

    @Test func resetDoesNotStopRecording() async throws {
        let chain = tap() --> terminal
        _ = load(with: chain)
        await chain.reset()
        _ = load(with: chain)
        #expect(terminal.answer(try #require(terminal.held.first)))
        #expect(sink.metrics.map(\.outcome) == [.cancelled, .response(.ok)])
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { timers in
            MetricsTap(MetricRecorder(MetricBoard(timers: timers), ClosureSink { _ in }, timers: timers))
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
