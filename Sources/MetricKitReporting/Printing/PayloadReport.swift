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
    var title: String {
        switch self {
        case .firstDraw: "Time to first draw"
        case .optimizedFirstDraw: "Time to first draw, begun by the system"
        case .resume: "Time to resume"
        case .extendedLaunch: "Extended launch"
        case .hangTime: "Hang time"
        }
    }
}
