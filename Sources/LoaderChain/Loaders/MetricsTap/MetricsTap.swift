/// Measures every task that passes, and tells sinks about it when it has ended.
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
/// **What it tells.** One ``HTTPMetric`` per task: when, how long, how much of that in queues, where to, how many attempts
/// and bytes, and how it ended.
///
/// **Where it belongs.** Above ``Throttle`` and ``Retry`` it measures what the program waits for, and knows how much of that
/// was waiting. Below ``Retry`` it measures each attempt, as the server sees it. Both may be had: each tap tells of its own.
/// ``Validate`` goes below, or it does not hear of what could not be parsed.
///
/// A request whose ``HTTPRequest/measurement`` is ``MeasurementOption/never`` goes straight through, and so does every
/// request while there is no sink. A reset changes nothing here: what it ends is measured like everything else.
///
/// The tap keeps no task, and what a task keeps of it leads to no loader.
public final class MetricsTap: HTTPLoader, @unchecked Sendable {
    private let settings: Settings

    /// Makes a tap that tells by a recorder, which others may use too.
    ///
    /// - Parameters:
    ///   - recorder: what hands the metrics to the sinks.
    ///   - module: the part of the program that the requests belong to, unless they say it themselves.
    ///   - tags: what is told about every request beside the rest.
    public init(_ recorder: MetricRecorder, module: String? = nil, tags: [String: String] = [:]) {
        settings = Settings(recorder: recorder, module: module, tags: tags)
    }

    /// Makes a tap that tells one sink of every task.
    public convenience init(_ sink: any MetricSink, module: String? = nil, tags: [String: String] = [:]) {
        self.init(MetricRecorder(sink), module: module, tags: tags)
    }

    /// What hands the metrics to the sinks; events and traces are recorded here too.
    public var recorder: MetricRecorder { settings.recorder }

    /// Passes the task on, and begins to measure.
    public override func load(task: HTTPTask) {
        if settings.isListening, task.option(MeasurementOption.self) == .always, settings.drawSample() {
            task.addMeter(TaskMeasurement(by: settings))
        }
        super.load(task: task)
    }

    /// The module, and what was dropped.
    public override var details: String {
        let dropped = recorder.dropped
        let parts = [settings.module, dropped == 0 ? nil : "dropped \(dropped)"]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}
