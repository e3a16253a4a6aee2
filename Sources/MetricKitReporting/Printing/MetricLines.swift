struct MetricLines {
    private(set) var lines: [String] = []

    init(_ payload: MetricPayload) {
        lines = ReportHead.lines("Metrics", version: payload.appVersion, payload.metaData, payload.timeRange)
        if payload.includesMultipleAppVersions {
            lines.append("The payload tells of several versions, and does not count for the averages of one.")
        }
        for metric in TimeMetric.allCases { add(metric.title, payload[keyPath: metric.histogram]) }
        if let rate = payload.hangRate { section([Self.line(of: rate)]) }
        if let bars = payload.cellularCondition?.bars {
            section(
                HistogramChart(title: "Cellular condition", histogram: bars) { ReadableNumber.text($0) + " bars" }.lines
            )
        }
        for signpost in payload.signposts { add(signpost) }
        addTable(payload)
        addExits("Ends in the foreground", payload.applicationExit?.foreground)
        addExits("Ends in the background", payload.applicationExit?.background)
        section(ReportHead.lines(of: payload.leftovers))
    }

    static func line(of rate: HangRate) -> String {
        "Hang rate: \(ReadableNumber.text(rate.timePerHour())) and \(ReadableNumber.text(rate.hangsPerHour)) hangs in an hour of use"
    }

    private mutating func section(_ more: [String]) {
        if !more.isEmpty { lines += [""] + more }
    }

    private mutating func add(_ title: String, _ histogram: Histogram<Duration>?) {
        guard let histogram else { return }
        section(HistogramChart(title: title, histogram: histogram) { ReadableNumber.text($0) }.lines)
    }

    private mutating func add(_ signpost: SignpostMetrics) {
        let name = [signpost.category, signpost.name].compactMap { $0 }.joined(separator: " / ")
        section([
            "Signpost \(name.isEmpty ? "without a name" : name)" + (signpost.count.map { ", set \($0) times" } ?? "")
        ])
        var table = ReportTable()
        table.add("Processor time", signpost.cpuTime)
        table.add("Average memory", bytes: signpost.averageMemoryBytes)
        table.add("Written", bytes: signpost.logicalWriteBytes)
        table.add("Hitches", signpost.hitchMillisecondsPerSecond, "ms/s")
        lines += table.lines
        if let durations = signpost.durations {
            lines += HistogramChart(title: "Durations", histogram: durations) { ReadableNumber.text($0) }.lines
        }
    }

    private mutating func addTable(_ payload: MetricPayload) {
        var table = ReportTable()
        table.add("In the foreground", payload.applicationTime?.foreground)
        table.add("In the background", payload.applicationTime?.background)
        table.add("Playing in the background", payload.applicationTime?.backgroundAudio)
        table.add("Locating in the background", payload.applicationTime?.backgroundLocation)
        table.add("Processor time", payload.cpu?.time)
        table.add("Instructions", payload.cpu?.instructions, "")
        table.add("Graphics time", payload.gpu?.time)
        table.add("Peak memory", bytes: payload.memory?.peakBytes)
        table.add("Memory while suspended", bytes: payload.memory?.suspendedBytes?.average)
        table.add("Pixel luminance", payload.display?.pixelLuminance?.average, "apl")
        table.add("Hitches while scrolling", payload.animation?.scrollHitchMillisecondsPerSecond, "ms/s")
        table.add("Hitches", payload.animation?.hitchMillisecondsPerSecond, "ms/s")
        table.add("Written", bytes: payload.diskIO?.logicalWriteBytes)
        table.add("Uploaded over Wi-Fi", bytes: payload.networkTransfer?.wifiUploadBytes)
        table.add("Downloaded over Wi-Fi", bytes: payload.networkTransfer?.wifiDownloadBytes)
        table.add("Uploaded over mobile networks", bytes: payload.networkTransfer?.cellularUploadBytes)
        table.add("Downloaded over mobile networks", bytes: payload.networkTransfer?.cellularDownloadBytes)
        table.add(
            "Binary files", bytes: payload.diskSpaceUsage?.binaryFileBytes, payload.diskSpaceUsage?.binaryFileCount)
        table.add("Data files", bytes: payload.diskSpaceUsage?.dataFileBytes, payload.diskSpaceUsage?.dataFileCount)
        table.add("Caches", bytes: payload.diskSpaceUsage?.cacheFolderBytes)
        table.add("Shared with copies", bytes: payload.diskSpaceUsage?.cloneBytes)
        table.add("Disk space used", bytes: payload.diskSpaceUsage?.usedBytes)
        table.add("Disk", bytes: payload.diskSpaceUsage?.capacityBytes)
        table.add("Locating for navigation", payload.location?.bestForNavigation)
        table.add("Locating at best", payload.location?.best)
        table.add("Locating to 10 m", payload.location?.nearestTenMeters)
        table.add("Locating to 100 m", payload.location?.hundredMeters)
        table.add("Locating to 1 km", payload.location?.kilometer)
        table.add("Locating to 3 km", payload.location?.threeKilometers)
        section(table.lines)
    }

    private mutating func addExits(_ title: String, _ exits: [ExitMetrics.Reason: Int]?) {
        var table = ReportTable()
        for reason in ExitMetrics.Reason.allCases {
            guard let count = exits?[reason], count > 0 else { continue }
            table.add(reason.title, Double(count), "")
        }
        if !table.lines.isEmpty { section([title] + table.lines) }
    }
}

extension ExitMetrics.Reason {
    fileprivate var title: String {
        switch self {
        case .normal: "normal"
        case .abnormal: "abnormal"
        case .watchdog: "did not answer"
        case .badAccess: "bad access"
        case .illegalInstruction: "illegal instruction"
        case .memoryLimit: "too much memory"
        case .memoryPressure: "memory was needed"
        case .cpuLimit: "too much of the processor"
        case .lockedFile: "suspended with a locked file"
        case .backgroundTaskTimeout: "background task too long"
        case .backgroundURLSessionCompletionTimeout: "background transfers not taken in time"
        case .backgroundFetchCompletionTimeout: "background fetch too long"
        }
    }
}
