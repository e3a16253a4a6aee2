import DurableFiles
import Foundation
import InfluxReporting
import LineProtocol
import LoaderChain
import Synchronization

struct MetricStores: Sendable {
    /// How many metrics may wait for a slow store.
    static let capacity = 100_000

    private let file: MetricFile?
    private let influx: InfluxStore?

    /// Opens the stores that the arguments name, or a file at `otherwise` if they name none.
    init(
        _ arguments: StoreArguments, otherwise path: String? = nil, surroundings: Surroundings
    ) throws(ProgramError) {
        influx = try arguments.database.map { database throws(ProgramError) in
            try InfluxStore(database, surroundings: surroundings)
        }
        let path = arguments.file ?? (influx == nil ? path : nil)
        file = try path.map { path throws(ProgramError) in try MetricFile(path: path) }
    }

    /// A sink for each store, so that the file has a line at once whatever becomes of the database's folder.
    var sinks: [any MetricSink] {
        let sinks: [(any MetricSink)?] = [file, influx?.writer]
        return sinks.compactMap(\.self)
    }

    struct Outcome: Sendable {
        var lines: [String] = []
        var file: FileResult?
        var influx: InfluxResult?
        var losses = 0
        /// Whether a store refuses points until something is changed.
        var isRefused = false

        var isFailure: Bool { losses > 0 || isRefused }
    }

    /// What became of the points for a file; also its JSON form.
    struct FileResult: Encodable, Sendable {
        var path: String
        var points: Int
        var pointsLost: Int
    }

    /// Writes everything that is still buffered, and closes the stores.
    func finish(dropped: Int) async -> Outcome {
        var outcome = Outcome(losses: dropped)
        if let file {
            outcome.file = FileResult(path: file.path, points: file.points, pointsLost: file.losses)
            outcome.losses += file.losses
            outcome.lines.append(
                "\(NumberText.count(file.points, "point")) of metrics went to \(Plain.text(file.path))")
            if file.losses > 0 {
                outcome.lines.append(
                    "\(NumberText.count(file.losses, "point")) could not be written; is the disk full?")
            }
        }
        if let influx {
            let result = await influx.finish()
            outcome.influx = result
            outcome.losses += result.rejected + result.dropped
            outcome.isRefused = result.isRefused
            outcome.lines += result.lines
        }
        if dropped > 0 {
            outcome.lines.append("\(NumberText.count(dropped, "point")) could not be written fast enough")
        }
        return outcome
    }
}

/// A file of line protocol that has everything that was reported, even if the process is killed right after: a line is written before the
/// caller of the request learns its result.
final class MetricFile: MetricSink {
    private struct State {
        var points = 0
        var losses = 0
        /// Whether the file ends in the middle of a line, which must be terminated before the next one.
        var isTorn: Bool
    }

    let path: String
    private let number: CInt
    /// The lock is held while a line is written, so that lines do not interleave.
    private let state: Locked<State>
    private let nudges = Atomic<UInt64>(0)

    /// Opens or creates a file for appending.
    init(path: String) throws(ProgramError) {
        self.path = path
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ProgramError(.usage, "a file needs a name; give a path")
        }
        let (number, code) = uninterrupted { open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644) }
        guard number >= 0 else {
            throw ProgramError(
                .failure,
                "\(Plain.text(path)) cannot be opened for writing: \(SystemText.of(code)); choose another file")
        }
        self.number = number
        state = Locked(State(isTorn: Self.endsWithinLine(number)))
    }

    deinit { close(number) }

    /// Whether the last writer was stopped in the middle of a line.
    private static func endsWithinLine(_ number: CInt) -> Bool {
        let end = lseek(number, 0, SEEK_END)
        guard end > 0 else { return false }
        var last: UInt8 = 0
        let (count, _) = uninterrupted { pread(number, &last, 1, end - 1) }
        return count == 1 && last != UInt8(ascii: "\n")
    }

    var points: Int { state.withLock { $0.points } }

    var losses: Int { state.withLock { $0.losses } }

    /// Writing one short line does not block.
    var isImmediate: Bool { true }

    func record(_ record: MetricRecord) {
        var encoder = LineEncoder(capacity: 512)
        let nudge = TimeNudge.of(nudges.add(1, ordering: .relaxed).oldValue)
        MetricPoint.append(record, nudge: nudge, to: &encoder)
        let line = encoder.bytes
        let number = number
        state.withLock { state in
            guard !line.isEmpty, writeAll(state.isTorn ? [UInt8(ascii: "\n")] + line : line, to: number) == nil
            else {
                // Part of the line may have been written.
                state.isTorn = true
                state.losses += 1
                return
            }
            state.isTorn = false
            state.points += 1
        }
    }
}
