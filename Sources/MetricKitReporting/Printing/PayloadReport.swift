// Printing: payloads as text. Depends on all folders but Tracking and Apple; no folder uses it.

import LoaderChain

/// A payload as text for people: averages, histograms, counters and diagnostics.
///
/// ```swift
/// print(PayloadReport(MetricKitReport(data)).text)
/// ```
///
/// Whatever a payload contains, each line of the text is one line without control characters.
public struct PayloadReport: Sendable, CustomStringConvertible {
    /// The lines of the text.
    public let lines: [String]

    /// Makes the report of a payload, including one that cannot be read.
    public init(_ report: MetricKitReport) {
        let lines =
            switch report {
            case .metrics(let payload): MetricLines(payload).lines
            case .diagnostics(let payload): DiagnosticLines(payload).lines
            case .unreadable(let data, let error):
                ["\(error) It has \(ReadableNumber.text(bytes: Double(data.count)))."]
            }
        self.lines = lines.map(ASCII.printable)
    }

    /// Makes a report over several payloads: the averages of each version of the app.
    public init(over payloads: [MetricPayload]) {
        var lines: [String] = []
        let spanning = payloads.count { $0.includesMultipleAppVersions }
        for version in Set(payloads.compactMap(\.appVersion)).sorted() {
            let its = payloads.of(applicationVersion: version)
            guard !its.isEmpty else { continue }
            if !lines.isEmpty { lines.append("") }
            lines.append("Version \(version), \(ReadableNumber.text(count: its.count, "payload", "payloads"))")
            for metric in TimeMetric.allCases {
                guard let histogram = its.histogram(for: metric.histogram, applicationVersion: version) else {
                    continue
                }
                lines += HistogramChart(title: metric.title, histogram: histogram) { ReadableNumber.text($0) }.lines
            }
            if let rate = its.hangRate(applicationVersion: version) { lines.append(MetricLines.line(of: rate)) }
        }
        if spanning > 0 {
            lines.append(
                "Left out, since they tell of several versions: \(ReadableNumber.text(count: spanning, "payload", "payloads"))"
            )
        }
        self.lines = lines.map(ASCII.printable)
    }

    /// The lines, each with a line feed.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// The text.
    public var description: String { text }
}

extension TimeMetric {
    fileprivate var title: String {
        switch self {
        case .firstDraw: "Time to first draw"
        case .optimizedFirstDraw: "Time to first draw, begun by the system"
        case .resume: "Time to resume"
        case .extendedLaunch: "Extended launch"
        case .hangTime: "Hang time"
        }
    }
}

private struct MetricLines {
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

private struct DiagnosticLines {
    private(set) var lines: [String] = []

    private static let mostFrames = 12
    private static let mostDiagnostics = 50

    init(_ payload: DiagnosticPayload) {
        let count = ReadableNumber.text(count: payload.diagnostics.count, "diagnostic", "diagnostics")
        lines = [count + (payload.timeRange == PayloadTimeRange() ? "" : ", \(payload.timeRange)")]
        for diagnostic in payload.diagnostics.prefix(Self.mostDiagnostics) { add(diagnostic) }
        let rest = payload.diagnostics.count - Self.mostDiagnostics
        if rest > 0 { lines += ["", "and \(rest) more"] }
        let leftovers = ReportHead.lines(of: payload.leftovers)
        if !leftovers.isEmpty { lines += [""] + leftovers }
    }

    private mutating func add(_ diagnostic: Diagnostic) {
        let title = diagnostic.details.name
        lines += [
            "",
            "\(title.prefix(1).uppercased())\(title.dropFirst()) of \(ReportHead.origin(diagnostic.appVersion, diagnostic.metaData))",
        ]
        lines += table(diagnostic.details).lines
        if let tree = diagnostic.callStackTree { add(tree) }
        lines += ReportHead.lines(of: diagnostic.leftovers)
    }

    private func table(_ details: DiagnosticDetails) -> ReportTable {
        var table = ReportTable()
        switch details {
        case .crash(let crash):
            table.add("Exception", text: crash.exceptionReason?.exceptionName)
            table.add("Message", text: crash.exceptionReason?.composedMessage)
            table.add("Termination", text: crash.terminationReason)
            table.add("Exception type", text: crash.exceptionType.map { "\($0)" })
            table.add("Exception code", text: crash.exceptionCode.map { "\($0)" })
            table.add("Signal", text: crash.signal.map { "\($0)" })
            table.add("Memory", text: crash.virtualMemoryRegionInfo)
        case .hang(let hang):
            table.add("Duration", hang.duration)
            table.add("Kind", text: hang.type)
        case .cpuException(let cpu):
            table.add("Processor time", cpu.totalCPUTime)
            table.add("Of", cpu.totalSampledTime)
        case .diskWriteException(let disk): table.add("Written", bytes: disk.writtenBytes)
        case .appLaunch(let launch): table.add("Duration", launch.duration)
        case .unknown: break
        }
        return table
    }

    /// Adds the attributed stack, or else the first one.
    private mutating func add(_ tree: CallStackTree) {
        guard let stack = tree.stacks.first(where: \.isAttributed) ?? tree.stacks.first else { return }
        let count = ReadableNumber.text(count: tree.stacks.count, "stack", "stacks")
        lines.append("  \(count); \(stack.isAttributed ? "the one to blame" : "the first"):")
        for frame in stack.frames.prefix(Self.mostFrames) {
            let place = frame.offset.map { " + \($0)" } ?? frame.address.map { " at 0x" + String($0, radix: 16) } ?? ""
            let samples = frame.sampleCount.map { $0 > 1 ? ", seen \($0) times" : "" } ?? ""
            lines.append("    \(frame.binary?.name ?? "unknown")\(place)\(samples)")
        }
        let rest = stack.frames.count - Self.mostFrames
        if rest > 0 { lines.append("    and \(ReadableNumber.text(count: rest, "frame", "frames")) more") }
    }
}
