// Reports of iOS 27 are lists of results, each named after its kind. They go to the same places as the sections of before.

extension MetricPayload {
    /// Reads the entry that covers the whole time of a report.
    ///
    /// A report has an entry for every interval, and the longest covers all others. Adding them up would count twice, so all
    /// others become leftovers, and so do all of them if none is the longest.
    mutating func readEntries(_ reader: inout SectionReader) {
        let context = reader.context
        let entry = reader.take(["intervalEntries"]) { node, path -> (node: JSONNode, path: String)? in
            let entries = Array(node.elements)
            let durations = entries.map { $0["duration"].flatMap(context.time) }
            guard let index = Self.whole(durations) else { return nil }
            for other in entries.indices where other != index {
                context.leave(entries[other], at: "\(path).\(other)", .unknown)
            }
            return (entries[index], "\(path).\(index)")
        }
        guard let entry else { return }
        let values = entry.node["values"].map { Array($0.elements) } ?? []
        for (index, result) in values.enumerated() {
            let path = "\(entry.path).values.\(index)"
            // A result is an object with one member, named after its kind.
            guard let (key, value) = result.members.first(where: { _ in true }), let name = key.text,
                take(name, value["_0"] ?? value, context)
            else {
                context.leave(result, at: path, .unknown)
                continue
            }
        }
    }

    /// The index of the entry that covers the whole time.
    private static func whole(_ durations: [Duration?]) -> Int? {
        if durations.count == 1 { return 0 }
        let known = durations.compactMap { $0 }
        guard known.count == durations.count, let longest = known.max(), known.filter({ $0 == longest }).count == 1
        else {
            return nil
        }
        return known.firstIndex(of: longest)
    }

    /// Stores a result in its section; false if there is none or the result is not understood.
    private mutating func take(_ name: String, _ node: JSONNode, _ context: PayloadContext) -> Bool {
        func set<Section, Value>(
            _ section: WritableKeyPath<MetricPayload, Section?>, _ empty: Section,
            _ place: WritableKeyPath<Section, Value?>, _ value: Value?
        ) -> Bool {
            // A second value is ambiguous, and the first may be right.
            guard let value, self[keyPath: section]?[keyPath: place] == nil else { return false }
            var filled = self[keyPath: section] ?? empty
            filled[keyPath: place] = value
            self[keyPath: section] = filled
            return true
        }
        let times = ResultReading(node, context)
        switch name {
        case "timeToFirstDraw": return set(\.applicationLaunch, .init(), \.timeToFirstDraw, times.histogram)
        case "optimizedTimeToFirstDraw":
            return set(\.applicationLaunch, .init(), \.optimizedTimeToFirstDraw, times.histogram)
        case "applicationResumeTime": return set(\.applicationLaunch, .init(), \.resumeTime, times.histogram)
        case "extendedLaunch": return set(\.applicationLaunch, .init(), \.extendedLaunch, times.histogram)
        case "hangTime": return set(\.applicationResponsiveness, .init(), \.hangTime, times.histogram)
        case "foregroundTime": return set(\.applicationTime, .init(), \.foreground, times.time)
        case "backgroundTime": return set(\.applicationTime, .init(), \.background, times.time)
        case "cpuTime": return set(\.cpu, .init(), \.time, times.time)
        case "cpuInstructionsCount": return set(\.cpu, .init(), \.instructions, times.number(.instructions))
        case "gpuTime": return set(\.gpu, .init(), \.time, times.time)
        case "peakMemory": return set(\.memory, .init(), \.peakBytes, times.number(.bytes))
        case "logicalDiskWrites": return set(\.diskIO, .init(), \.logicalWriteBytes, times.number(.bytes))
        case "totalDiskSpaceCapacity": return set(\.diskSpaceUsage, .init(), \.capacityBytes, times.number(.bytes))
        case "totalWiFiUpload": return set(\.networkTransfer, .init(), \.wifiUploadBytes, times.number(.bytes))
        case "totalWiFiDownload": return set(\.networkTransfer, .init(), \.wifiDownloadBytes, times.number(.bytes))
        case "totalCellularUpload": return set(\.networkTransfer, .init(), \.cellularUploadBytes, times.number(.bytes))
        case "totalCellularDownload":
            return set(\.networkTransfer, .init(), \.cellularDownloadBytes, times.number(.bytes))
        case "cellularConditionTime": return set(\.cellularCondition, .init(), \.bars, times.bars)
        default: return false
        }
    }
}

/// A result's value: a histogram, or the one measurement that it consists of.
private struct ResultReading {
    private let node: JSONNode
    private let context: PayloadContext

    init(_ node: JSONNode, _ context: PayloadContext) {
        self.node = node
        self.context = context
    }

    var histogram: Histogram<Duration>? { HistogramReading(node)?.histogram { context.time($0) } }

    var bars: Histogram<Double>? { HistogramReading(node)?.histogram { context.amount($0, .bars)?.double } }

    /// The measurement, if there is exactly one; two would be ambiguous.
    private var measurement: JSONNode? {
        if node["value"] != nil { return node }
        let members = node.members.map(\.value)
        return members.count == 1 ? members[0] : nil
    }

    var time: Duration? { measurement.flatMap(context.time) }

    func number(_ quantity: UnitWord.Quantity) -> Double? {
        measurement.flatMap { context.amount($0, quantity)?.double }
    }
}
