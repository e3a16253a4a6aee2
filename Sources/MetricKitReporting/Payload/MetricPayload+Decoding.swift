import LoaderChainPlatformFoundation

extension MetricPayload {
    init(_ document: JSONDocument, _ data: Data) throws(PayloadError) {
        guard PayloadKind(document.root) == .metrics else {
            throw PayloadError(
                code: .notAPayload, reason: "This is JSON, but no payload: it has none of a payload's keys.")
        }
        self.data = data
        let context = PayloadContext(document)
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

    /// Whether the payload covers several versions of the app; an unclear answer counts as yes.
    static func spansVersions(_ reader: inout SectionReader) -> Bool {
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
        guard array.elements.dropFirst(JSONLimits.kept).first(where: { _ in true }) == nil else { return nil }
        var all: [SignpostMetrics] = []
        for (index, node) in array.elements.enumerated() {
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
