import LoaderChainPlatformFoundation

/// The kind of a payload, which its keys tell.
enum PayloadKind {
    case metrics, diagnostics

    /// The key of the one diagnostic of a report of iOS 27.
    static let resultKey = "result"

    /// The kind of an object; nil if it has none of a payload's keys.
    init?(_ root: JSONNode) {
        var (hasMetrics, hasTime, hasEmptySection) = (false, false, false)
        for (key, value) in root.members {
            guard let name = key.text else { continue }
            let isSection = DiagnosticSection(rawValue: name) != nil
            if isSection && value.elements.first(where: { _ in true }) != nil
                || name == Self.resultKey && value.kind == .object
            {
                self = .diagnostics
                return
            }
            hasEmptySection = hasEmptySection || isSection
            hasMetrics = hasMetrics || Self.metricKeys.contains(name) || name.hasSuffix("Metrics")
            hasTime = hasTime || Self.timeKeys.contains(name)
        }
        // An empty section of diagnostics beside metrics takes nothing from them.
        if hasEmptySection, !hasMetrics {
            self = .diagnostics
        } else if hasMetrics || hasTime {
            self = .metrics
        } else {
            return nil
        }
    }

    private static let metricKeys: Set = ["appVersion", "metaData", "intervalEntries", "signpostMetrics"]
    private static let timeKeys: Set = ["timeStampBegin", "timeStampEnd", "timeRange"]
}

/// The sections of diagnostics in a payload.
enum DiagnosticSection: String {
    case crash = "crashDiagnostics"
    case hang = "hangDiagnostics"
    case cpuException = "cpuExceptionDiagnostics"
    case diskWriteException = "diskWriteExceptionDiagnostics"
    case appLaunch = "appLaunchDiagnostics"

    /// The section for a kind as reports of iOS 27 name it.
    init?(result: String) { self.init(rawValue: result + "Diagnostics") }
}

extension JSONDocument {
    /// Reads the text of a payload.
    convenience init(payload data: Data) throws(PayloadError) {
        do throws(JSONProblem) {
            let limit = JSONLimits.standard.bytes
            // Before anything is copied.
            guard data.count <= limit else { throw JSONProblem(reason: .tooLong, offset: limit) }
            try self.init([UInt8](data))
        } catch {
            throw PayloadError(error)
        }
    }
}
