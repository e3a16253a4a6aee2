/// A table of names and values.
struct ReportTable {
    private var rows: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ time: Duration?) {
        if let time { rows.append((name, ReadableNumber.text(time))) }
    }

    mutating func add(_ name: String, bytes: Double?, _ files: Int? = nil) {
        var value = bytes.map { ReadableNumber.text(bytes: $0) }
        if let files {
            let count = ReadableNumber.text(count: files, "file", "files")
            value = value.map { "\($0) in \(count)" } ?? count
        }
        if let value { rows.append((name, value)) }
    }

    mutating func add(_ name: String, _ number: Double?, _ unit: String) {
        guard let number else { return }
        rows.append((name, ReadableNumber.text(number) + (unit.isEmpty ? "" : " " + unit)))
    }

    mutating func add(_ name: String, text: String?) {
        if let text { rows.append((name, text)) }
    }

    var lines: [String] {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { "  " + $0.name + String(repeating: " ", count: width - $0.name.count + 2) + $0.value }
    }
}

/// A histogram and its averages as lines of text.
struct HistogramChart<Bound: HistogramBound> {
    let title: String
    let histogram: Histogram<Bound>
    /// Formats a value with its unit.
    let text: (Bound) -> String

    private static var width: Int { 40 }
    private static var mostLines: Int { 40 }

    var lines: [String] {
        var lines = ["\(title): \(ReadableNumber.text(count: histogram.count, "value", "values"))"]
        guard let end = histogram.mean(by: .end), let middle = histogram.mean(by: .midpoint),
            let robust = histogram.trimmedMean(by: .midpoint), let median = histogram.median,
            let ninety = histogram.quantile(0.9)
        else { return lines }
        lines.append(
            "  mean \(text(end)) by bucket ends, \(text(middle)) by midpoints, \(text(robust)) of the middle half")
        lines.append("  median \(text(median)), p90 \(text(ninety))")
        return lines + bars
    }

    /// A line for each bucket, with a bar scaled to the largest.
    private var bars: [String] {
        let most = histogram.buckets.map(\.count).max() ?? 1
        let shown = histogram.buckets.prefix(Self.mostLines)
        let names = shown.map { "\(text($0.start)) to \(text($0.end))" }
        let counts = shown.map { "\($0.count)" }
        let (nameWidth, countWidth) = (names.map(\.count).max() ?? 0, counts.map(\.count).max() ?? 0)
        var lines: [String] = []
        for (index, bucket) in shown.enumerated() {
            let length = max(1, Int((Double(bucket.count) / Double(most) * Double(Self.width)).rounded()))
            let name = names[index] + String(repeating: " ", count: nameWidth - names[index].count)
            let count = String(repeating: " ", count: countWidth - counts[index].count) + counts[index]
            lines.append("  \(name)  \(count)  \(String(repeating: "█", count: length))")
        }
        let rest = histogram.buckets.count - shown.count
        if rest > 0 { lines.append("  and \(ReadableNumber.text(count: rest, "bucket", "buckets")) more") }
        return lines
    }
}

/// The head of a report, and its leftovers.
enum ReportHead {
    static func lines(
        _ kind: String, version: String?, _ metaData: PayloadMetaData?, _ range: PayloadTimeRange
    ) -> [String] {
        var lines = ["\(kind) of \(origin(version, metaData))"]
        if range != PayloadTimeRange() { lines.append("\(range)") }
        return lines
    }

    /// The app and the device.
    static func origin(_ version: String?, _ metaData: PayloadMetaData?) -> String {
        let build = metaData?.appBuildVersion.map { " (\($0))" } ?? ""
        let parts = [
            metaData?.bundleIdentifier, "version \(version ?? "unknown")\(build)", metaData?.deviceType,
            metaData?.osVersion,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    private static let mostLeftovers = 20
    private static let longestLeftover = 60

    /// The leftovers, which show that the report does not have everything that the payload has.
    static func lines(of leftovers: [Leftover]) -> [String] {
        guard !leftovers.isEmpty else { return [] }
        var lines = ["Not understood, or not known here:"]
        for leftover in leftovers.prefix(mostLeftovers) {
            let json = leftover.json.description
            let shown = json.count > longestLeftover ? json.prefix(longestLeftover) + "…" : json[...]
            let line = shown.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            lines.append("  \(leftover.path): \(line)")
        }
        if leftovers.count > mostLeftovers { lines.append("  and \(leftovers.count - mostLeftovers) more") }
        return lines
    }
}

/// Numbers for people.
enum ReadableNumber {
    /// With at most two decimals.
    static func text(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "\(number)" }
        let hundredths = Int64((abs(number) * 100).rounded())
        let (whole, part) = hundredths.quotientAndRemainder(dividingBy: 100)
        let sign = number < 0 && hundredths > 0 ? "-" : ""
        guard part != 0 else { return "\(sign)\(whole)" }
        let (tenths, rest) = part.quotientAndRemainder(dividingBy: 10)
        return "\(sign)\(whole).\(tenths)\(rest == 0 ? "" : "\(rest)")"
    }

    /// In milliseconds below ten seconds, and in seconds, minutes or hours above.
    static func text(_ time: Duration) -> String {
        let seconds = time.histogramNumber
        switch abs(seconds) {
        case ..<10: return text(seconds * 1_000) + " ms"
        case ..<600: return text(seconds) + " s"
        case ..<36_000: return text(seconds / 60) + " min"
        default: return text(seconds / 3_600) + " h"
        }
    }

    /// In the largest unit that gives at least one.
    static func text(bytes: Double) -> String {
        switch abs(bytes) {
        case 1e9...: text(bytes / 1e9) + " GB"
        case 1e6...: text(bytes / 1e6) + " MB"
        case 1e3...: text(bytes / 1e3) + " kB"
        default: text(bytes) + " bytes"
        }
    }

    static func text(count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }
}
