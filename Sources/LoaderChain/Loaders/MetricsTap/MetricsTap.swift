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
