// Writer: the writer itself, and the engine that carries out what the state decides. It may use every other folder.

import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// What parcels come to when they are sent as one.
struct BatchLoad: Sendable {
    /// Their lines.
    var batch: LineBatch
    /// The files that hold the lines until all of them are settled.
    var files: [BlockFile] = []
    /// How many points could not be read any more, by reason.
    var lost: [DropReason: Int] = [:]
    /// The room that the lines had.
    var room = 0
    /// Where lines come from that may be in memory alone though the writer has a directory, with the number of the first of each.
    var sources: [(lines: HeldLines, first: Int)] = []
    /// The drops that the last lines of the batch report, one after the other.
    var reports: [DropReport] = []

    /// The lines that report drops.
    var reportLines: LineSet { LineSet((batch.count - reports.count)..<batch.count) }

    /// The lines that are in no file.
    var unsavedLines: LineSet {
        sources.reduce(LineSet()) { all, source in
            let lines =
                switch source.lines {
                case .block(let block): block.unsavedLines
                case .stored: LineSet()
                case .batch(_, _, let unsaved): unsaved
                }
            return all.union(lines.moved(by: source.first))
        }
    }
}

extension WriterEngine {
    /// Copies the lines of parcels into one batch, and lets go of the blocks.
    func assemble(_ parcels: [Parcel<HeldLines>]) -> BatchLoad {
        let room = parcels.reduce(0) { $0 + $1.room }
        if parcels.count == 1, case .batch(let batch, let files, _) = parcels[0].content {
            return BatchLoad(batch: batch, files: files, room: room, sources: [(parcels[0].content, 0)])
        }
        var builder = BatchBuilder(parcels, precision: parcels.first?.precision ?? precision)
        for parcel in parcels {
            if isDurable, !parcel.content.isSaved { builder.sources.append((parcel.content, builder.count)) }
            switch parcel.content {
            case .block(let block):
                builder.files += parcel.content.files
                block.forEachLine { builder.append($0) }
                shared.withLock { $0.letGo(parcel.content) }
            case .stored(let file):
                do throws(FileFailure) {
                    let (batch, damagedBytes) = try store.read(file, points: parcel.points)
                    if batch.count < parcel.points {
                        listeners.tell(.damaged(file: file.name, bytes: damagedBytes))
                    }
                    builder.append(batch, expected: parcel.points)
                    builder.files.append(file)
                } catch {
                    // It stays where it is, for the next writer of the directory.
                    builder.lost[.disk, default: 0] += parcel.points
                    listeners.tell(.trouble("\(error)"))
                }
            case .batch(let batch, let files, _):
                builder.files += files
                builder.append(batch, expected: parcel.points)
            }
        }
        var load = builder.load
        load.room = room
        return load
    }

    /// Adds what was dropped to a batch: so the server hears of it when it takes points, and no report is dropped itself.
    func addReports(to load: inout BatchLoad) {
        guard !load.batch.isEmpty, load.batch.precision == precision else { return }
        let (scratch, number) = stripes[0].withLock { $0.lend() }
        let time = TimeNudge.timestamp(timers.date, TimeNudge.of(number &* UInt64(stripes.count)))
        let reports = shared.withLock { $0.takeReports(at: time) }
        var (bytes, ends) = (load.batch.bytes, load.batch.ends)
        let start = bytes.count
        for report in reports {
            scratch.encoder.append(DropPoint.make(report.reason, count: report.count, at: report.time))
            ends.append(start + scratch.encoder.count)
        }
        scratch.encoder.withUnsafeBytes { bytes.append(contentsOf: $0) }
        stripes[0].withLock { $0.takeBack(scratch) }
        guard !reports.isEmpty, let batch = LineBatch(bytes: bytes, ends: ends, precision: precision) else { return }
        load.batch = batch
        load.reports = reports
    }
}

/// Puts lines behind each other.
private struct BatchBuilder {
    var files: [BlockFile] = []
    var lost: [DropReason: Int] = [:]
    var sources: [(lines: HeldLines, first: Int)] = []
    private var bytes: Data
    private var ends: [Int] = []
    private let precision: Precision

    init(_ parcels: [Parcel<HeldLines>], precision: Precision) {
        self.precision = precision
        bytes = Data(capacity: parcels.reduce(0) { $0 + $1.bytes })
        ends.reserveCapacity(parcels.reduce(0) { $0 + $1.points })
    }

    /// How many lines there are so far.
    var count: Int { ends.count }

    mutating func append(_ line: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: line)
        ends.append(bytes.count)
    }

    mutating func append(_ batch: LineBatch, expected: Int) {
        for end in batch.ends { ends.append(bytes.count + end) }
        bytes.append(batch.bytes)
        if batch.count < expected { lost[.damaged, default: 0] += expected - batch.count }
    }

    /// The blocks hold whole lines, so there always is a batch of them.
    var load: BatchLoad {
        let batch = LineBatch(bytes: bytes, ends: ends, precision: precision) ?? LineBatch(precision: precision)
        return BatchLoad(batch: batch, files: files, lost: lost, sources: sources)
    }
}
