import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Sends points: parcels become a batch, and what is left of it comes back.
extension WriterEngine {
    /// A task that sends parcels as one batch, by the number of the last.
    func sending(_ parcels: [Parcel<HeldLines>], as number: UInt64) -> Task<Void, Never> {
        Task { [self] in
            var load = assemble(parcels)
            addReports(to: &load)
            shared.withLock { $0.statistics.batches += 1 }
            let outcome = load.batch.isEmpty ? BatchOutcome() : await sender.send(load.batch)
            ended(number, load, outcome)
        }
    }

    /// Forgets files whose lines are settled; one that cannot be removed is sent again by the next writer of the directory.
    func remove(_ files: [BlockFile]) {
        guard !files.isEmpty else { return }
        do throws(FileFailure) { tell(forgotten: try store.remove(files)) } catch {
            listeners.tell(.trouble("\(error)"))
        }
    }

    /// Tells which damaged files are not kept any more.
    func tell(forgotten names: [String]) {
        for name in names {
            listeners.tell(.trouble("“\(name)” was removed: \(DamagedFile.mostKept) newer damaged files are kept."))
        }
    }

    private func ended(_ number: UInt64, _ load: BatchLoad, _ outcome: BatchOutcome) {
        let now = timers.now
        let reportLines = load.reportLines
        let left = outcome.undelivered.subtracting(reportLines)
        let rest = left.isEmpty ? nil : load.batch.batch(of: left)
        let hasFiles = isDurable && !shared.withLock(\.hasLostDirectory)
        let unsaved = hasFiles ? left.places(of: load.unsavedLines) : LineSet(0..<left.count)
        let files = hasFiles ? load.files : []
        let roll = random.unit()
        // Before the app hears that they are settled, and ends the writer.
        if rest == nil { remove(load.files) }
        let (pause, unsent, done) = shared.withLock { shared in
            shared.sendings[number] = nil
            shared.statistics.note(outcome)
            var outcome = outcome
            for (index, report) in load.reports.enumerated() {
                if outcome.undelivered.contains(load.batch.count - load.reports.count + index) {
                    shared.repeatLater(report)
                    continue
                }
                // It is a point like others, but none that a flush waits for.
                shared.statistics.accepted += 1
                let text = load.batch.text(of: load.batch.count - load.reports.count + index)
                if outcome.takeOut(text) { shared.ownDelivered += 1 } else { shared.ownRejected += 1 }
            }
            for (reason, count) in load.lost { shared.drop(count, reason) }
            // When all is over, what is in memory alone is lost.
            let unsent = shared.isStopped ? unsaved.count : 0
            shared.drop(unsent, .unsent)
            let parcel = rest.map { rest in
                Parcel(
                    number: number, points: rest.count - unsent, bytes: rest.bytes.count,
                    room: files.isEmpty ? rest.bytes.count : load.room, precision: rest.precision,
                    content: HeldLines.batch(rest, files: files, unsaved: unsaved))
            }
            shared.batching.ended(number, rest: parcel.flatMap { $0.points > 0 ? $0 : nil }) { report in
                report.note(outcome)
                for (reason, count) in load.lost { report.note(count, reason) }
            }
            if rest != nil || outcome.obstacle != nil {
                shared.batching.wait(from: now, told: outcome.obstacle?.toldDelay, roll: roll)
            }
            var done = shared.batching.takeDone()
            if rest != nil, let obstacle = outcome.obstacle, obstacle.needsAttention {
                done += shared.batching.giveUp(on: number, because: .obstacle(obstacle))
            }
            return (shared.batching.pacing.pausedUntil.map { now.duration(to: $0) }, unsent, done)
        }
        tell(outcome, kept: (rest?.count ?? 0) - unsent, pause: pause ?? .zero)
        if isDurable, !unsaved.isEmpty { saveLater() }
        tellDrops()
        for (waiter, report) in done { waiter.end(with: report) }
        room.open()
        advance()
    }

    private func tell(_ outcome: BatchOutcome, kept: Int, pause: Duration) {
        if outcome.deliveredCount > 0 { listeners.tell(.delivered(outcome.deliveredCount)) }
        if outcome.rejectedCount > 0 {
            listeners.tell(.rejected(outcome.rejected, count: outcome.rejectedCount))
        }
        if kept > 0, let obstacle = outcome.obstacle {
            listeners.tell(.kept(kept, because: obstacle, retryAfter: pause))
        }
    }

    // MARK: What was dropped

    /// Writes points about what was dropped since the last time, if none is held that they could be sent with, and tells it.
    func reportDrops(atOnce: Bool = false) {
        let reasons = shared.withLock { $0.isShutDown || $0.batching.heldPoints > 0 ? [] : $0.takeUnreported() }
        for (reason, count) in reasons {
            let result = take { encoder, nudge in
                encoder.append(DropPoint.make(reason, count: count, at: TimeNudge.timestamp(timers.date, nudge)))
            }
            if !result.isHeld { shared.withLock { $0.reportAgain(count, reason) } }
        }
        tellDrops(atOnce: atOnce)
    }

    /// Tells what was dropped since the last time, unless that was just now or, at the end, even so.
    func tellDrops(atOnce: Bool = false) {
        let now = timers.now
        let reasons: [DropReason: Int]
        switch shared.withLock({ $0.tellDrops(at: now, atOnce: atOnce || $0.isStopped) }) {
        case .nothing: return
        case .wait(let moment):
            timers.schedule(at: moment) { [weak self] in self?.tellDrops() }
            return
        case .tell(let drops): reasons = drops
        }
        for (reason, count) in reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            listeners.tell(.dropped(count, reason))
        }
    }

    /// Lets go of what was dropped for newer points.
    ///
    /// At once, since the bound of the disk holds for files, and the next block makes another.
    func removeDropped(_ dropped: [HeldLines]) {
        tellDrops()
        remove(dropped.flatMap(\.files))
    }
}

extension WriteObstacle {
    /// How long the server asks to wait.
    fileprivate var toldDelay: Duration? {
        if case .busy(let delay, _) = self { delay } else { nil }
    }

    /// Whether waiting does not help.
    fileprivate var needsAttention: Bool {
        if case .refused = self { true } else { false }
    }
}

// MARK: - Making a batch of parcels

extension WriterEngine {
    /// Copies the lines of parcels into one batch, and lets go of the blocks.
    private func assemble(_ parcels: [Parcel<HeldLines>]) -> BatchLoad {
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
    private func addReports(to load: inout BatchLoad) {
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

/// What parcels come to when they are sent as one.
private struct BatchLoad: Sendable {
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
        sources.reduce(LineSet()) { $0.union($1.lines.unsavedLines.moved(by: $1.first)) }
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
