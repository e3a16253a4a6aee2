// Printing: payloads as text. Depends on all folders but Tracking and Apple; no folder uses it.

struct DiagnosticLines {
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
