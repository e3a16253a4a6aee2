// Metrics: the stores of metrics, and what all commands say about them. Depends on Screen and Process; the commands may
// use it.

import Foundation
import InfluxReporting
import LoaderChain

/// A database for metrics, with a folder in which points survive crashes and outages.
struct InfluxStore: Sendable {
    let writer: InfluxWriter
    private let place: String
    private let spool: String
    private let patience: Duration

    init(_ database: StoreArguments.Database, surroundings: Surroundings) throws(ProgramError) {
        place = Plain.text("\(database.destination)")
        let folder = database.spool ?? Self.folder(for: place, in: surroundings.environment)
        spool = folder
        patience = database.patience
        let impatient = ModifyRequest { $0.timeout = .seconds(15) }
        let chain = ResetGuard() --> Autocancel() --> impatient --> makeTerminal()
        var settings = WriterSettings()
        settings.idleInterval = .seconds(2)
        settings.maximumAge = .seconds(5)
        do throws(WriterError) {
            writer = try InfluxWriter(
                destination: database.destination, chain: chain,
                directory: URL(filePath: folder, directoryHint: .isDirectory), settings: settings)
        } catch {
            let advice =
                error.code == .inUse ? "another apihealth writes there; give each its own with --spool" : error.reason
            throw ProgramError(.failure, Plain.text("the folder \(folder) cannot be used: \(advice)"))
        }
    }

    /// The default folder: one per database, in the user's state directory.
    static func folder(for place: String, in environment: [String: String]) -> String {
        let state =
            environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? (environment["HOME"] ?? NSTemporaryDirectory()) + "/.local/state"
        // The digest distinguishes databases; the readable part helps people who look into the folder.
        let digest = Hexadecimal.text(of: SHA256.of(place.utf8).prefix(8))
        let name = place.unicodeScalars.prefix(40).map { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || "0"..."9" ~= scalar ? String(scalar) : "-"
        }
        return "\(state)/apihealth/\(name.joined())-\(digest)"
    }

    /// Sends the remaining points and returns what became of all of them.
    func finish() async -> InfluxResult {
        let report = await writer.shutDown(within: patience)
        return InfluxResult(writer.statistics, report, place: place, spool: spool)
    }
}

/// What became of the points for a database; also its JSON form.
struct InfluxResult: Encodable, Sendable {
    var database: String
    var delivered: Int
    var rejected: Int
    var dropped: Int
    var kept: Int
    var folder: String
    var obstacle: String?
    /// Whether the database refuses the points until its configuration or the credentials change.
    var isRefused = false
    private var rejections: [String]

    init(_ statistics: WriterStatistics, _ report: FlushReport, place: String, spool: String) {
        database = place
        delivered = statistics.delivered
        rejected = statistics.rejected
        dropped = statistics.droppedTotal
        kept = report.pending
        folder = spool
        rejections = report.rejections.prefix(3).map { "\($0)" }
        if case .failure(let obstacle) = report.pendingReason {
            self.obstacle = "\(obstacle)"
            if case .refused = obstacle { isRefused = true }
        } else if report.pending > 0 {
            obstacle = statistics.lastFailure.map { "\($0)" } ?? "The time to wait was over"
        }
    }

    var lines: [String] {
        var lines = ["\(NumberText.count(delivered, "point")) of metrics went to \(database)"]
        if kept > 0 {
            lines.append(
                "\(NumberText.count(kept, "point")) wait in \(Plain.text(folder)) and are sent by the next run")
        }
        if let obstacle { lines.append("  \(Plain.text(obstacle))") }
        if rejected > 0 { lines.append("\(NumberText.count(rejected, "point")) were refused by the database") }
        lines += rejections.map { "  \(Plain.text($0))" }
        if dropped > 0 { lines.append("\(NumberText.count(dropped, "point")) had to be dropped") }
        return lines
    }
}
