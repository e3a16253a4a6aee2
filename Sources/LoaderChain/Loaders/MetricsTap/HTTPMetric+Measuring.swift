import LoaderChainPlatformFoundation

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
        host = result.request.hostInMetrics
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
    /// The host as metrics and spans have it: in lower case, and empty while no loader has filled it in.
    package var hostInMetrics: String { hostKey }

    /// The port, also where it is the scheme's own; nil for a scheme other than HTTP's.
    package var portInMetrics: Int? {
        if let port { return port }
        if ASCII.isEqualIgnoringCase(scheme, "https") { return 443 }
        return ASCII.isEqualIgnoringCase(scheme, "http") ? 80 : nil
    }
}
