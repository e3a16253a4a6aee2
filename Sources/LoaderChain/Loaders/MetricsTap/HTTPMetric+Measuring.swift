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
        host = result.request.hostKey
        port = request.address.port ?? Self.usualPort(of: request.address.scheme)
        route = result.request.routeInMetrics
        module = request.options[MetricModuleOption.self] ?? settings.module
        origin = request.options[MetricOriginOption.self]
        let ownTags = request.options[MetricTagsOption.self]
        tags = ownTags.isEmpty ? settings.tags : settings.tags.merging(ownTags) { $1 }
        attempts = result.attempts
        bytesSent = transfer?.bytesSent
        bytesReceived = transfer?.bytesReceived
        timeToFirstByte = transfer?.timeToFirstByte
        networkProtocol = transfer?.networkProtocol
        status = response?.status
        outcome = Outcome(result)
        samplingRate = settings.recorder.samplingRate
    }

    private static func usualPort(of scheme: String) -> Int? {
        if ASCII.isEqualIgnoringCase(scheme, "https") { return 443 }
        return ASCII.isEqualIgnoringCase(scheme, "http") ? 80 : nil
    }
}
