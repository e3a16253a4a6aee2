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
/// **Where it belongs.** Above ``Throttle`` and ``Retry`` it measures what the program waits for, and how much of that was
/// waiting. Below ``Retry`` it measures each attempt, as the server sees it. You can use both. ``Validate`` belongs below the
/// tap, so that responses that could not be parsed are counted as such.
///
/// A request whose ``HTTPRequest/measurement`` is ``MeasurementOption/never``, and a request without a sink, are not measured.
/// A reset changes nothing here: the tasks that it ends are measured like all others.
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
    ///   - recordsPhases: whether metrics have the phases of a transfer, as ``HTTPMetric/phases``.
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

    public override func load(task: HTTPTask) {
        if recorder.isListening, task.option(MeasurementOption.self) == .always {
            let row = settings.active?.begin(task.request)
            if recorder.drawSample() {
                task.addWaitObserver(TaskMeasurement(by: settings, row: row))
            } else if let row, let active = settings.active {
                task.addEndObserver(ActiveEnd(row, of: active))
            }
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
    /// The only part of a tap that a task keeps: the recorder and what the tap adds to all metrics, without a reference to a loader.
    final class Settings: Sendable {
        let recorder: MetricRecorder
        let module: String?
        let tags: [String: String]
        let recordsPhases: Bool
        /// The requests under way, if they are counted.
        let active: ActiveRequests?
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
        }

        var now: TimerInstant { clock.now }
    }
}

extension MetricsTap.Settings {
    /// Returns the metric of a task; the address is that of the request as it was sent, with everything that loaders have filled in.
    func metric(of result: HTTPResult, duration: Duration, waiting: Duration) -> HTTPMetric {
        let request = result.request
        let options = request.storage.options
        let response = result.response
        let transfer = response?.metrics
        let ownTags = options[MetricTagsOption.self]
        let tags = ownTags.isEmpty ? self.tags : self.tags.merging(ownTags) { $1 }
        let trace = options[AttemptTraceOption.self]?.context
        let recorded = trace?.flags.contains(.sampled) ?? false ? trace : nil
        return HTTPMetric(
            start: recorder.timers.date.addingTimeInterval(-(duration / .seconds(1))), duration: duration,
            waiting: waiting, method: request.method, scheme: request.scheme, host: request.hostKey,
            port: request.portToConnect, route: request.routeInMetrics,
            module: options[MetricModuleOption.self] ?? module, origin: options[MetricOriginOption.self],
            tags: tags, attempts: result.attempts, bytesSent: transfer?.bytesSent,
            // The body of a response in chunks arrives later.
            bytesReceived: response?.chunks == nil ? transfer?.bytesReceived : nil,
            timeToFirstByte: transfer?.timeToFirstByte,
            networkProtocol: transfer?.networkProtocol, phases: recordsPhases ? transfer?.phases : nil,
            status: response?.status, traceID: recorded?.traceID, spanID: recorded?.spanID,
            outcome: HTTPMetric.Outcome(result), samplingRate: recorder.samplingRate)
    }
}
