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
