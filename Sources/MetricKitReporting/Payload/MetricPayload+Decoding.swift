import LoaderChainPlatformFoundation

extension MetricPayload {
    init(_ document: JSONDocument, _ data: Data) throws(PayloadError) {
        guard PayloadKind(document.root) == .metrics else {
            throw PayloadError(
                code: .notAPayload, reason: "The JSON is not a payload: it has none of a payload's keys.")
        }
        self.data = data
        let context = PayloadContext(document.root)
        var reader = SectionReader(document.root, path: "", context)
        appVersion = reader.text("appVersion")
        includesMultipleAppVersions = Self.spansVersions(&reader)
        timeRange = PayloadTimeRange(&reader)
        metaData = reader.section("metaData") { PayloadMetaData(&$0) }

        applicationLaunch = reader.section("applicationLaunchMetrics") { LaunchMetrics(&$0) }
        applicationResponsiveness = reader.section("applicationResponsivenessMetrics") { ResponsivenessMetrics(&$0) }
        applicationTime = reader.section("applicationTimeMetrics") { ApplicationTimeMetrics(&$0) }
        applicationExit = reader.section("applicationExitMetrics") { ExitMetrics(&$0) }
        animation = reader.section("animationMetrics") { AnimationMetrics(&$0) }
        cpu = reader.section("cpuMetrics") { CPUMetrics(&$0) }
        gpu = reader.section("gpuMetrics") { GPUMetrics(&$0) }
        memory = reader.section("memoryMetrics") { MemoryMetrics(&$0) }
        display = reader.section("displayMetrics") { DisplayMetrics(&$0) }
        diskIO = reader.section("diskIOMetrics") { DiskIOMetrics(&$0) }
        diskSpaceUsage = reader.section("diskSpaceUsageMetrics") { DiskSpaceUsageMetrics(&$0) }
        networkTransfer = reader.section("networkTransferMetrics") { NetworkTransferMetrics(&$0) }
        cellularCondition = reader.section("cellularConditionMetrics") { CellularConditionMetrics(&$0) }
        location = reader.section("locationActivityMetrics") { LocationMetrics(&$0) }
        signposts =
            reader.take(["signpostMetrics"]) { node, path in
                node.kind == .array ? Self.signposts(node, path, context) : nil
            } ?? []

        if let environment = reader.section("environment", read: { ReportEnvironment(&$0) }) { take(environment) }
        readEntries(&reader)
        reader.leaveRest()
        leftovers = context.leftovers
        if leftovers.count > JSONLimits.kept { throw .tooManyLeftovers }
    }

    /// Returns whether the payload covers several versions of the app; true if the value cannot be parsed.
    fileprivate static func spansVersions(_ reader: inout SectionReader) -> Bool {
        var isUnclear = false
        let answer = reader.take(["multipleAppVersions", "includesMultipleApplicationVersions"]) { node, _ in
            let answer = SectionReader.bool(node)
            isUnclear = answer == nil
            return answer
        }
        return answer ?? isUnclear
    }

    /// Reads the signposts; nil if there are too many.
    private static func signposts(_ array: JSONNode, _ path: String, _ context: PayloadContext) -> [SignpostMetrics]? {
        let nodes = Array(array.elements.prefix(JSONLimits.kept + 1))
        guard nodes.count <= JSONLimits.kept else { return nil }
        var all: [SignpostMetrics] = []
        for (index, node) in nodes.enumerated() {
            guard node.kind == .object else {
                context.leave(node, at: "\(path).\(index)", .notUnderstood)
                continue
            }
            var reader = SectionReader(node, path: "\(path).\(index)", context)
            all.append(SignpostMetrics(&reader))
            reader.leaveRest()
        }
        return all
    }
}

extension PayloadTimeRange {
    init(_ reader: inout SectionReader) {
        begin = reader.moment("timeStampBegin")
        end = reader.moment("timeStampEnd")
        let range = reader.section("timeRange") { reader in
            let (begin, end) = (reader.moment("begin", "start"), reader.moment("end"))
            // A range may also be a start and a duration in seconds.
            let duration = reader.take(["duration"]) { node, _ in node.number }
            guard end == nil, case .instant(let start)? = begin, let seconds = duration?.scaled(by: 9)?.nearestInteger,
                let later = Int64(exactly: seconds), later >= 0,
                case let (sum, overflow) = start.nanoseconds.addingReportingOverflow(later), !overflow
            else { return PayloadTimeRange(begin: begin, end: end) }
            return PayloadTimeRange(begin: begin, end: .instant(.nanoseconds(sum)))
        }
        guard let range else { return }
        begin = begin ?? range.begin
        end = end ?? range.end
    }
}

struct ReportEnvironment {
    var metaData: PayloadMetaData
    var appVersion: String?
    var includesMultipleAppVersions: Bool

    init(_ reader: inout SectionReader) {
        metaData = PayloadMetaData(&reader)
        appVersion = reader.text("latestApplicationVersion", "applicationVersion", "appVersion")
        includesMultipleAppVersions = MetricPayload.spansVersions(&reader)
    }
}

extension MetricPayload {
    private mutating func take(_ environment: ReportEnvironment) {
        metaData = metaData ?? environment.metaData
        appVersion = appVersion ?? environment.appVersion
        includesMultipleAppVersions = includesMultipleAppVersions || environment.includesMultipleAppVersions
    }
}

// Reports of iOS 27 are lists of results, each named after its kind. They are stored in the sections of the earlier format.

extension JSONNode {
    /// A result and its name; nil for what is not an object, whose first member is named after the kind of the result.
    var namedResult: (name: String, value: JSONNode)? {
        var members = members
        guard let (key, value) = members.next(), let name = key.text else { return nil }
        return (name, value["_0"] ?? value)
    }

    /// A name as a part of paths, which are copied into leftovers: its beginning, by scalars, of which a character has any number.
    static func shortened(_ name: String) -> String { String(String.UnicodeScalarView(name.unicodeScalars.prefix(64))) }
}

extension PayloadContext {
    /// Adds what stands beside the value of a result to the leftovers; `path` is that of the result, with a point at its end.
    func leaveOthers(than result: JSONNode, at path: String) {
        var members = result.members
        if let (key, value) = members.next(), value["_0"] != nil {
            let inner = path + JSONNode.shortened(key.text ?? "") + "."
            for (key, other) in value.members where !key.isText("_0") {
                leave(other, at: inner + (key.text ?? ""), .unknown)
            }
        }
        while let (key, other) = members.next() { leave(other, at: path + (key.text ?? ""), .unknown) }
    }
}

extension MetricPayload {
    /// Reads the entry that covers the whole time of a report.
    ///
    /// A report has an entry for every interval, and the longest one covers all others. Adding them up would count twice, so all
    /// others become leftovers. If no entry is the longest, all of them do.
    private mutating func readEntries(_ reader: inout SectionReader) {
        let context = reader.context
        let entry = reader.take(["intervalEntries"]) { node, path -> SectionReader? in
            let entries = Array(node.elements)
            let durations = entries.map { $0["duration"].flatMap(context.time) }
            guard let index = Self.whole(durations), entries[index].kind == .object else { return nil }
            for other in entries.indices where other != index {
                context.leave(entries[other], at: "\(path).\(other)", .unknown)
            }
            return SectionReader(entries[index], path: "\(path).\(index)", context)
        }
        guard var entry else { return }
        _ = entry.time("duration")
        let values = entry.take(["values"]) { node, path in node.kind == .array ? (Array(node.elements), path) : nil }
        entry.leaveRest()
        guard let (results, path) = values else { return }
        for (index, result) in results.enumerated() {
            guard let (name, value) = result.namedResult, take(name, value, context) else {
                context.leave(result, at: "\(path).\(index)", .unknown)
                continue
            }
            context.leaveOthers(than: result, at: "\(path).\(index).")
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

    /// Stores a result in its section; returns false if it has none or cannot be parsed.
    private mutating func take(_ name: String, _ node: JSONNode, _ context: PayloadContext) -> Bool {
        func set<Section, Value>(
            _ section: WritableKeyPath<MetricPayload, Section?>, _ empty: Section,
            _ place: WritableKeyPath<Section, Value?>, _ value: Value?
        ) -> Bool {
            // A second value is ambiguous, and the first may be correct.
            guard let value, self[keyPath: section]?[keyPath: place] == nil else { return false }
            var filled = self[keyPath: section] ?? empty
            filled[keyPath: place] = value
            self[keyPath: section] = filled
            return true
        }
        // The measurement of a result; two of them would be ambiguous.
        let members = node.members.map(\.value)
        let measurement = node["value"] != nil ? node : members.count == 1 ? members[0] : nil
        var time: Duration? { measurement.flatMap(context.time) }
        func number(_ quantity: MeasureUnit.Quantity) -> Double? {
            measurement.flatMap { context.amount($0, quantity)?.double }
        }
        switch name {
        case "timeToFirstDraw": return set(\.applicationLaunch, .init(), \.timeToFirstDraw, context.histogram(node))
        case "optimizedTimeToFirstDraw":
            return set(\.applicationLaunch, .init(), \.optimizedTimeToFirstDraw, context.histogram(node))
        case "applicationResumeTime": return set(\.applicationLaunch, .init(), \.resumeTime, context.histogram(node))
        case "extendedLaunch": return set(\.applicationLaunch, .init(), \.extendedLaunch, context.histogram(node))
        case "hangTime": return set(\.applicationResponsiveness, .init(), \.hangTime, context.histogram(node))
        case "foregroundTime": return set(\.applicationTime, .init(), \.foreground, time)
        case "backgroundTime": return set(\.applicationTime, .init(), \.background, time)
        case "cpuTime": return set(\.cpu, .init(), \.time, time)
        case "cpuInstructionsCount": return set(\.cpu, .init(), \.instructions, number(.instructions))
        case "gpuTime": return set(\.gpu, .init(), \.time, time)
        case "peakMemory": return set(\.memory, .init(), \.peakBytes, number(.bytes))
        case "logicalDiskWrites": return set(\.diskIO, .init(), \.logicalWriteBytes, number(.bytes))
        case "totalDiskSpaceCapacity": return set(\.diskSpaceUsage, .init(), \.capacityBytes, number(.bytes))
        case "totalWiFiUpload": return set(\.networkTransfer, .init(), \.wifiUploadBytes, number(.bytes))
        case "totalWiFiDownload": return set(\.networkTransfer, .init(), \.wifiDownloadBytes, number(.bytes))
        case "totalCellularUpload": return set(\.networkTransfer, .init(), \.cellularUploadBytes, number(.bytes))
        case "totalCellularDownload":
            return set(\.networkTransfer, .init(), \.cellularDownloadBytes, number(.bytes))
        case "cellularConditionTime": return set(\.cellularCondition, .init(), \.bars, context.bars(node))
        default: return false
        }
    }
}
