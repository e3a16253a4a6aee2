import LoaderChainPlatformFoundation

/// Measures every task that passes, and sends a metric to the sinks when it has ended.
///
/// ```swift
/// let board = MetricBoard()
/// let chain = MetricsTap(board, module: "checkout") --> throttle --> retry --> Validate() --> terminal
///
/// var request = HTTPRequest(host: "api.example.com", path: "/articles/why-we-wait")
/// request.route = "/articles/{title}"
/// request.metricTags = ["plan": "free"]
/// _ = try await chain.load(request)
/// print(board)
/// ```
///
/// **What it measures.** One ``HTTPMetric`` per task: when, how long, how much of that in queues, where to, how many
/// attempts and bytes, and how it ended.
///
/// **Where it belongs.** Above ``Throttle`` and ``Retry`` it measures what the program waits for, and how much of that
/// was waiting. Below ``Retry`` it measures each attempt, as the server sees it. You can use both. ``Validate`` belongs
/// below the tap, so that responses that could not be parsed are counted as such.
///
/// A request whose ``HTTPRequest/measurement`` is ``MeasurementOption/never`` is not measured, and neither is any
/// request without a sink. A reset changes nothing here: the tasks that it ends are measured like all others.
///
/// The tap keeps no task, and no task keeps a loader because of the tap.
public final class MetricsTap: HTTPLoader, @unchecked Sendable {
    private let settings: Settings

    /// Makes a tap with a recorder, which several taps may share.
    ///
    /// - Parameters:
    ///   - recorder: hands the metrics to the sinks.
    ///   - module: the part of the program that the requests belong to, unless they set their own.
    ///   - tags: further tags of all requests.
    ///   - recordsPhases: whether metrics tell where the time of a transfer went, as ``HTTPMetric/phases``.
    ///   - countsActive: whether the tap counts the requests that are under way, by method and server, as
    ///     `http.client.active_requests` in its ``readings``. Such a tap belongs below the loader that fills in the host.
    public init(
        _ recorder: MetricRecorder, module: String? = nil, tags: [String: String] = [:], recordsPhases: Bool = false,
        countsActive: Bool = false
    ) {
        settings = Settings(
            recorder: recorder, module: module, tags: tags, recordsPhases: recordsPhases, countsActive: countsActive)
    }

    /// Makes a tap with one sink.
    public convenience init(
        _ sink: any MetricSink, module: String? = nil, tags: [String: String] = [:], recordsPhases: Bool = false,
        countsActive: Bool = false
    ) {
        self.init(
            MetricRecorder(sink), module: module, tags: tags, recordsPhases: recordsPhases, countsActive: countsActive)
    }

    /// Hands the metrics to the sinks; use it to record events and traces too.
    public var recorder: MetricRecorder { settings.recorder }

    /// Starts to measure the task, and passes it on.
    public override func load(task: HTTPTask) {
        if settings.isListening, task.option(MeasurementOption.self) == .always, settings.drawSample() {
            task.addWaitObserver(TaskMeasurement(by: settings, active: settings.active?.begin(task.request)))
        }
        super.load(task: task)
    }

    /// The requests that are under way, if the tap counts them.
    public override var readings: [LoaderReading] { settings.active?.readings ?? [] }

    /// The module, and how many records were dropped.
    public override var details: String {
        let dropped = recorder.dropped
        let parts = [settings.module, dropped == 0 ? nil : "dropped \(dropped)"]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension MetricsTap {
    /// The tap's recorder, and what it adds to the metrics of all tasks.
    ///
    /// This is the only part of a tap that a task keeps, and it has no reference to a loader.
    final class Settings: Sendable {
        let recorder: MetricRecorder
        let module: String?
        let tags: [String: String]
        let recordsPhases: Bool
        let isListening: Bool
        /// The requests under way, if they are counted.
        let active: ActiveRequests?
        /// The only sink, if it is a board and there is no filter: then requests need no metric.
        let board: MetricBoard?
        let boardHasSameClock: Bool
        private let measuresAll: Bool
        private let clock: TimerClock

        init(
            recorder: MetricRecorder, module: String?, tags: [String: String], recordsPhases: Bool, countsActive: Bool
        ) {
            active = countsActive ? ActiveRequests() : nil
            self.recorder = recorder
            self.module = module
            self.tags = tags
            self.recordsPhases = recordsPhases
            clock = TimerClock(recorder.timers)
            board = recorder.onlyBoard
            isListening = recorder.isListening
            measuresAll = recorder.samplingRate >= 1
            boardHasSameClock = board?.clock.isSame(as: clock) ?? false
        }

        /// Draws whether a task that comes now is measured.
        func drawSample() -> Bool { measuresAll || recorder.drawSample() }

        var now: TimerInstant { clock.now }

        /// Emits the metric of a request that has ended now.
        func emit(_ result: HTTPResult, nanoseconds: Int64, waiting: Duration) {
            recorder.emit(
                .request(HTTPMetric(of: result, duration: .nanoseconds(nanoseconds), waiting: waiting, by: self)))
        }
    }
}

extension HTTPMetric {
    /// Makes the metric of a task from its result.
    ///
    /// The address is that of the request as it was sent, with everything that loaders have filled in.
    init(of result: HTTPResult, duration: Duration, waiting: Duration, by settings: MetricsTap.Settings) {
        let request = result.request.storage
        let response = result.response
        let transfer = response?.metrics
        self.duration = duration
        start = settings.recorder.timers.date.addingTimeInterval(-(duration / .seconds(1)))
        self.waiting = waiting
        method = request.method
        scheme = request.address.scheme
        host = result.request.hostKey
        port = result.request.portInMetrics
        route = result.request.routeInMetrics
        module = request.options[MetricModuleOption.self] ?? settings.module
        origin = request.options[MetricOriginOption.self]
        let ownTags = request.options[MetricTagsOption.self]
        var tags = ownTags.isEmpty ? settings.tags : settings.tags.merging(ownTags) { $1 }
        if let source = response?.source { tags.merge(source.metricTags) { own, _ in own } }
        self.tags = tags
        attempts = result.attempts
        bytesSent = transfer?.bytesSent
        bytesReceived = transfer?.bytesReceived
        timeToFirstByte = transfer?.timeToFirstByte
        networkProtocol = transfer?.networkProtocol
        phases = settings.recordsPhases ? transfer?.phases : nil
        status = response?.status
        let trace = request.options[AttemptTraceOption.self]?.context
        let isRecorded = trace?.flags.contains(.sampled) ?? false
        traceID = isRecorded ? trace?.traceID : nil
        spanID = isRecorded ? trace?.spanID : nil
        outcome = Outcome(result)
        samplingRate = settings.recorder.samplingRate
    }
}

extension HTTPRequest {
    /// The port, also where it is the scheme's own; nil for a scheme other than HTTP's.
    var portInMetrics: Int? {
        if let port { return port }
        if ASCII.isEqualIgnoringCase(scheme, "https") { return 443 }
        return ASCII.isEqualIgnoringCase(scheme, "http") ? 80 : nil
    }
}
