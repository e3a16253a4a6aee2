import LoaderChain
import MetricKitReporting

/// Draws payloads as text (averages, histograms, counters and diagnostics), in lines without control characters, whatever a payload has.
enum PayloadView {
    private static let mostBuckets = 40
    private static let widestBar = 40.0
    private static let mostDiagnostics = 50
    private static let mostFrames = 12
    private static let mostLeftovers = 20
    private static let longestLeftover = 60

    /// The lines of a payload; none for one that cannot be read.
    static func lines(_ report: MetricKitReport) -> [String] {
        switch report {
        case .metrics(let payload): lines(sections(payload))
        case .diagnostics(let payload): lines(sections(payload))
        case .unreadable: []
        }
    }

    /// The lines of several payloads: the averages of each version of the app.
    static func lines(over payloads: [MetricPayload]) -> [String] {
        let versions = Set(payloads.compactMap(\.appVersion)).sorted().map { version -> [String] in
            let its = payloads.of(applicationVersion: version)
            guard !its.isEmpty else { return [] }
            let charts = times.flatMap { title, histogram in
                chart(title, its.histogram(for: histogram, applicationVersion: version), time)
            }
            let rate = its.hangRate(applicationVersion: version).map { [line(of: $0)] } ?? []
            return ["Version \(version), \(NumberText.count(its.count, "payload"))"] + charts + rate
        }
        let spanning = payloads.count { $0.includesMultipleAppVersions }
        let nameless = payloads.count { !$0.includesMultipleAppVersions && $0.appVersion == nil }
        let rest = [(spanning, "cover several versions"), (nameless, "name no version")].filter { $0.0 > 0 }.map {
            "Left out, because they \($0.1): \(NumberText.count($0.0, "payload"))"
        }
        return lines(versions) + rest
    }

    /// The lines of the sections that have any, with an empty line between two.
    private static func lines(_ sections: [[String]]) -> [String] {
        sections.filter { !$0.isEmpty }.joined(separator: [""]).map(ASCII.printable)
    }
}

// MARK: Metrics

extension PayloadView {
    private static var times: [(title: String, histogram: KeyPath<MetricPayload, Histogram<Duration>?>)] {
        [
            ("Time to first draw", \.applicationLaunch?.timeToFirstDraw),
            ("Time to first draw, begun by the system", \.applicationLaunch?.optimizedTimeToFirstDraw),
            ("Time to resume", \.applicationLaunch?.resumeTime),
            ("Extended launch", \.applicationLaunch?.extendedLaunch),
            ("Hang time", \.applicationResponsiveness?.hangTime),
        ]
    }

    private static func sections(_ payload: MetricPayload) -> [[String]] {
        var head = ["Metrics of \(origin(payload.appVersion, payload.metaData))"]
        if payload.timeRange != PayloadTimeRange() { head.append("\(payload.timeRange)") }
        if payload.includesMultipleAppVersions {
            head.append("The payload covers several versions, so it does not count for the averages of a version.")
        }
        var sections = [head] + times.map { chart($0.title, payload[keyPath: $0.histogram], time) }
        if let rate = payload.hangRate { sections.append([line(of: rate)]) }
        sections.append(chart("Cellular condition", payload.cellularCondition?.bars) { number($0) + " bars" })
        sections += payload.signposts.map { section($0) }
        sections.append(counters(payload))
        sections.append(section("Ends in the foreground", payload.applicationExit?.foreground))
        sections.append(section("Ends in the background", payload.applicationExit?.background))
        sections.append(lines(of: payload.leftovers))
        return sections
    }

    private static func line(of rate: HangRate) -> String {
        "Hang rate: \(time(rate.timePerHour())) and \(number(rate.hangsPerHour)) hangs in an hour of use"
    }

    private static func section(_ signpost: SignpostMetrics) -> [String] {
        let name = [signpost.category, signpost.name].compactMap { $0 }.joined(separator: " / ")
        let count = signpost.count.map { ", set \($0) times" } ?? ""
        return ["Signpost \(name.isEmpty ? "without a name" : name)\(count)"]
            + table([
                ("Processor time", signpost.cpuTime.map(time)),
                ("Average memory", signpost.averageMemoryBytes.map(bytes)),
                ("Written", signpost.logicalWriteBytes.map(bytes)),
                ("Hitches", signpost.hitchMillisecondsPerSecond.map(hitches)),
            ]) + chart("Durations", signpost.durations, time)
    }

    private static func counters(_ payload: MetricPayload) -> [String] {
        let (run, location) = (payload.applicationTime, payload.location)
        let (network, disk) = (payload.networkTransfer, payload.diskSpaceUsage)
        return table([
            ("In the foreground", run?.foreground.map(time)),
            ("In the background", run?.background.map(time)),
            ("Playing in the background", run?.backgroundAudio.map(time)),
            ("Locating in the background", run?.backgroundLocation.map(time)),
            ("Processor time", payload.cpu?.time.map(time)),
            ("Instructions", payload.cpu?.instructions.map(number)),
            ("Graphics time", payload.gpu?.time.map(time)),
            ("Peak memory", payload.memory?.peakBytes.map(bytes)),
            ("Memory while suspended", payload.memory?.suspendedBytes?.average.map(bytes)),
            ("Pixel luminance", payload.display?.pixelLuminance?.average.map { number($0) + " apl" }),
            ("Hitches while scrolling", payload.animation?.scrollHitchMillisecondsPerSecond.map(hitches)),
            ("Hitches", payload.animation?.hitchMillisecondsPerSecond.map(hitches)),
            ("Written", payload.diskIO?.logicalWriteBytes.map(bytes)),
            ("Uploaded over Wi-Fi", network?.wifiUploadBytes.map(bytes)),
            ("Downloaded over Wi-Fi", network?.wifiDownloadBytes.map(bytes)),
            ("Uploaded over mobile networks", network?.cellularUploadBytes.map(bytes)),
            ("Downloaded over mobile networks", network?.cellularDownloadBytes.map(bytes)),
            ("Binary files", files(disk?.binaryFileBytes, disk?.binaryFileCount)),
            ("Data files", files(disk?.dataFileBytes, disk?.dataFileCount)),
            ("Caches", disk?.cacheFolderBytes.map(bytes)),
            ("Shared with copies", disk?.cloneBytes.map(bytes)),
            ("Disk space used", disk?.usedBytes.map(bytes)),
            ("Disk", disk?.capacityBytes.map(bytes)),
            ("Locating for navigation", location?.bestForNavigation.map(time)),
            ("Locating at best", location?.best.map(time)),
            ("Locating to 10 m", location?.nearestTenMeters.map(time)),
            ("Locating to 100 m", location?.hundredMeters.map(time)),
            ("Locating to 1 km", location?.kilometer.map(time)),
            ("Locating to 3 km", location?.threeKilometers.map(time)),
        ])
    }

    private static func files(_ size: Double?, _ count: Int?) -> String? {
        let parts = [size.map(bytes), count.map { NumberText.count($0, "file") }].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " in ")
    }

    private static func section(_ title: String, _ exits: [ExitMetrics.Reason: Int]?) -> [String] {
        let rows = table(
            ExitMetrics.Reason.allCases.map { reason in
                let count = exits?[reason] ?? 0
                return (name(reason), count > 0 ? number(Double(count)) : nil)
            })
        return rows.isEmpty ? [] : [title] + rows
    }

    private static func name(_ reason: ExitMetrics.Reason) -> String {
        switch reason {
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

// MARK: Diagnostics

extension PayloadView {
    private static func sections(_ payload: DiagnosticPayload) -> [[String]] {
        let range = payload.timeRange == PayloadTimeRange() ? "" : ", \(payload.timeRange)"
        let rest = payload.diagnostics.count - mostDiagnostics
        var sections = [[NumberText.count(payload.diagnostics.count, "diagnostic") + range]]
        sections += payload.diagnostics.prefix(mostDiagnostics).map { section($0) }
        sections += [rest > 0 ? ["and \(rest) more"] : [], lines(of: payload.leftovers)]
        return sections
    }

    private static func section(_ diagnostic: Diagnostic) -> [String] {
        let (name, origin) = (diagnostic.details.name, origin(diagnostic.appVersion, diagnostic.metaData))
        var lines = ["\(name.prefix(1).uppercased())\(name.dropFirst()) of \(origin)"]
        lines += table(rows(diagnostic.details))
        if let tree = diagnostic.callStackTree { lines += self.lines(of: tree) }
        return lines + self.lines(of: diagnostic.leftovers)
    }

    private static func rows(_ details: DiagnosticDetails) -> [(name: String, value: String?)] {
        switch details {
        case .crash(let crash):
            [
                ("Exception", crash.exceptionReason?.exceptionName),
                ("Message", crash.exceptionReason?.composedMessage),
                ("Termination", crash.terminationReason),
                ("Exception type", crash.exceptionType.map { "\($0)" }),
                ("Exception code", crash.exceptionCode.map { "\($0)" }),
                ("Signal", crash.signal.map { "\($0)" }),
                ("Memory", crash.virtualMemoryRegionInfo),
            ]
        case .hang(let hang): [("Duration", hang.duration.map(time)), ("Kind", hang.type)]
        case .cpuException(let cpu):
            [("Processor time", cpu.totalCPUTime.map(time)), ("Of", cpu.totalSampledTime.map(time))]
        case .diskWriteException(let disk): [("Written", disk.writtenBytes.map(bytes))]
        case .appLaunch(let launch): [("Duration", launch.duration.map(time))]
        case .unknown: []
        }
    }

    /// The attributed stack, or else the first one.
    private static func lines(of tree: CallStackTree) -> [String] {
        guard let stack = tree.stacks.first(where: \.isAttributed) ?? tree.stacks.first else { return [] }
        let which = stack.isAttributed ? "the one to blame" : "the first"
        let frames = stack.frames.prefix(mostFrames).map { frame in
            let place = frame.offset.map { " + \($0)" } ?? frame.address.map { " at 0x" + String($0, radix: 16) } ?? ""
            let samples = frame.sampleCount.map { $0 > 1 ? ", seen \($0) times" : "" } ?? ""
            return "    \(frame.binary?.name ?? "unknown")\(place)\(samples)"
        }
        let rest = stack.frames.count - mostFrames
        return ["  \(NumberText.count(tree.stacks.count, "stack")); \(which):"] + frames
            + (rest > 0 ? ["    and \(NumberText.count(rest, "frame")) more"] : [])
    }
}

// MARK: Parts of both

extension PayloadView {
    /// The app and the device.
    private static func origin(_ version: String?, _ metaData: PayloadMetaData?) -> String {
        let build = metaData?.appBuildVersion.map { " (\($0))" } ?? ""
        let parts = [
            metaData?.bundleIdentifier, "version \(version ?? "unknown")\(build)", metaData?.deviceType,
            metaData?.osVersion,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    /// The leftovers, which show that these lines do not have everything that the payload has.
    private static func lines(of leftovers: [Leftover]) -> [String] {
        guard !leftovers.isEmpty else { return [] }
        let shown = leftovers.prefix(mostLeftovers).map { leftover in
            let json = shortened(leftover.json.description).split(whereSeparator: \.isWhitespace)
            return "  \(shortened(leftover.path)): \(json.joined(separator: " "))"
        }
        let rest = leftovers.count - mostLeftovers
        return ["Not understood, or not known here:"] + shown + (rest > 0 ? ["  and \(rest) more"] : [])
    }

    /// The beginning of a text, by scalars: a character has any number of them.
    private static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: longestLeftover, limitedBy: scalars.endIndex),
            end != scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }

    /// The rows that have a value.
    private static func table(_ rows: [(name: String, value: String?)]) -> [String] {
        Plain.table(rows.compactMap { row in row.value.map { (row.name, $0) } })
    }

    /// A histogram: its averages, and a bar for each bucket.
    private static func chart<Bound>(
        _ title: String, _ histogram: Histogram<Bound>?, _ text: (Bound) -> String
    ) -> [String] {
        guard let histogram else { return [] }
        let head = "\(title): \(NumberText.count(histogram.count, "value"))"
        guard let end = histogram.mean(by: .end), let middle = histogram.mean(by: .midpoint),
            let robust = histogram.trimmedMean(by: .midpoint), let median = histogram.median,
            let ninety = histogram.quantile(0.9)
        else { return [head] }
        let shown = histogram.buckets.prefix(mostBuckets)
        let names = shown.map { "\(text($0.start)) to \(text($0.end))" }
        let nameWidth = names.reduce(0) { max($0, $1.count) }
        let countWidth = shown.reduce(0) { max($0, "\($1.count)".count) }
        let most = histogram.buckets.reduce(1) { max($0, $1.count) }
        let bars = zip(names, shown).map { name, bucket in
            let length = max(1, Int((Double(bucket.count) / Double(most) * widestBar).rounded()))
            return "  \(Plain.pad(name, to: nameWidth))  \(Plain.padLeft("\(bucket.count)", to: countWidth))  "
                + String(repeating: "█", count: length)
        }
        let rest = histogram.buckets.count - shown.count
        let means = "\(text(end)) by bucket ends, \(text(middle)) by midpoints, \(text(robust)) of the middle half"
        return [head, "  mean \(means)", "  median \(text(median)), p90 \(text(ninety))"] + bars
            + (rest > 0 ? ["  and \(NumberText.count(rest, "bucket")) more"] : [])
    }
}

// MARK: Numbers

extension PayloadView {
    private static func number(_ number: Double) -> String { NumberText.text(number, digits: 2, trimsZeros: true) }

    private static func hitches(_ ratio: Double) -> String { number(ratio) + " ms/s" }

    /// In milliseconds below ten seconds, and in seconds, minutes or hours above.
    static func time(_ time: Duration) -> String {
        let seconds = time.histogramNumber
        return switch abs(seconds) {
        case ..<10: number(seconds * 1_000) + " ms"
        case ..<600: number(seconds) + " s"
        case ..<36_000: number(seconds / 60) + " min"
        default: number(seconds / 3_600) + " h"
        }
    }

    /// In the largest unit that gives at least one.
    private static func bytes(_ bytes: Double) -> String {
        switch abs(bytes) {
        case 1e9...: number(bytes / 1e9) + " GB"
        case 1e6...: number(bytes / 1e6) + " MB"
        case 1e3...: number(bytes / 1e3) + " kB"
        default: number(bytes) + " bytes"
        }
    }
}
