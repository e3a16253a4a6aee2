import DurableFiles
import Foundation
import InfluxReporting
import LineProtocol
import LoaderChain
import Synchronization

/// A file of line protocol to which every metric is appended immediately.
///
/// A line is written before the caller of the request learns its result, so the file has everything that was reported, even if
/// the process is killed right after.
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
