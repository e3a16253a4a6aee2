import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Sends points: parcels become a batch, and what is left of it comes back.
extension WriterEngine {
    /// A task that sends parcels as one batch, by the number of the last.
    func sending(_ parcels: [Parcel], as number: UInt64) -> Task<Void, Never> {
        Task { [self] in
            var load = assemble(parcels)
            addReports(to: &load)
            state.withLock { $0.statistics.batches += 1 }
            let batch = load.batch
            let outcome = batch.isEmpty ? BatchOutcome() : await sender.send(batch)
            ended(number, load, batch, outcome)
        }
    }

    /// Forgets files whose lines are settled; one that cannot be removed is sent again by the next writer of the directory.
    func remove(_ files: [BlockFile]) {
        guard let store, !files.isEmpty else { return }
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

    private func ended(_ number: UInt64, _ load: BatchLoad, _ batch: LineBatch, _ outcome: BatchOutcome) {
        let now = timers.now
        let firstReport = batch.count - load.reports.count
        let left = outcome.undelivered.subtracting(LineSet(firstReport..<batch.count))
        let rest = left.isEmpty ? nil : batch.batch(of: left)
        let hasFiles = store != nil && !state.withLock(\.hasLostDirectory)
        let unsaved = hasFiles ? left.places(of: load.unsaved) : LineSet(0..<left.count)
        var parcel = rest.map { rest in
            Parcel(
                number: number, points: rest.count, bytes: rest.bytes.count, room: load.room, precision: rest.precision,
                block: LineBlock(rest), files: hasFiles ? load.files : [], unsaved: store == nil ? LineSet() : unsaved)
        }
        let roll = random.unit()
        // Before the app hears that they are settled, and ends the writer.
        if rest == nil { remove(load.files) }
        let (pause, unsent, givenUp) = state.withLock { state in
            state.sendings[number] = nil
            state.statistics.note(outcome)
            var outcome = outcome
            for (index, report) in load.reports.enumerated() {
                if outcome.undelivered.contains(firstReport + index) {
                    state.repeatLater(report)
                    continue
                }
                // It is a point like others, but none that a flush waits for.
                state.statistics.accepted += 1
                let isDelivered = outcome.takeOut(batch.text(of: firstReport + index))
                if isDelivered { state.ownDelivered += 1 } else { state.ownRejected += 1 }
            }
            for (reason, count) in load.lost { state.drop(count, reason) }
            // When all is over, what is in memory alone is lost.
            let unsent = state.isStopped ? unsaved.count : 0
            state.drop(unsent, .unsent)
            parcel?.points -= unsent
            state.batching.ended(number, rest: parcel.flatMap { $0.points > 0 ? $0 : nil }) { report in
                report.note(outcome)
                for (reason, count) in load.lost { report.note(count, reason) }
            }
            if rest != nil || outcome.obstacle != nil {
                state.batching.wait(from: now, told: outcome.obstacle?.toldDelay, roll: roll)
            }
            let givenUp =
                if rest != nil, let obstacle = outcome.obstacle, obstacle.needsAttention {
                    state.batching.giveUp(on: number, because: .obstacle(obstacle))
                } else { [(FlushWaiter, FlushReport)]() }
            return (state.batching.pacing.pausedUntil.map { now.duration(to: $0) }, unsent, givenUp)
        }
        tell(outcome, kept: (rest?.count ?? 0) - unsent, pause: pause ?? .zero)
        if store != nil, !unsaved.isEmpty, state.withLock({ $0.beginSynchronizing() }) { scheduleSynchronization() }
        tellDrops()
        for (waiter, report) in givenUp { waiter.end(with: report) }
        openRoom()
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
        let reasons = state.withLock { $0.isShutDown || $0.batching.heldPoints > 0 ? [] : $0.takeUnreported() }
        for (reason, count) in reasons {
            let result = take { encoder, nudge in
                encoder.append(DropPoint.make(reason, count: count, at: TimeNudge.timestamp(timers.date, nudge)))
            }
            if !result.isHeld { state.withLock { $0.reportAgain(count, reason) } }
        }
        tellDrops(atOnce: atOnce)
    }

    /// Tells what was dropped since the last time, unless that was just now or, at the end, even so.
    func tellDrops(atOnce: Bool = false) {
        let now = timers.now
        let reasons: [DropReason: Int]
        switch state.withLock({ $0.tellDrops(at: now, atOnce: atOnce || $0.isStopped) }) {
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
    /// Copies the lines of parcels into one batch.
    private func assemble(_ parcels: [Parcel]) -> BatchLoad {
        var load = BatchLoad(parcels, precision: parcels.first?.precision ?? precision)
        for parcel in parcels {
            if let block = parcel.block {
                load.append(block, of: parcel)
            } else if let store, let file = parcel.files.first {
                do throws(FileFailure) {
                    let (lines, damagedBytes) = try store.read(file, points: parcel.points)
                    if lines.count < parcel.points {
                        listeners.tell(.damaged(file: file.name, bytes: damagedBytes))
                    }
                    load.append(lines, of: parcel)
                } catch {
                    // It stays where it is, for the next writer of the directory.
                    load.lost[.disk, default: 0] += parcel.points
                    listeners.tell(.trouble("\(error)"))
                }
            }
        }
        return load
    }

    /// Adds what was dropped to a batch: so the server hears of it when it takes points, and no report is dropped itself.
    private func addReports(to load: inout BatchLoad) {
        guard !load.ends.isEmpty, load.precision == precision else { return }
        let (scratch, nudge) = state.withLock { $0.encoders.lend() }
        let time = TimeNudge.timestamp(timers.date, nudge)
        load.reports = state.withLock { $0.takeReports(at: time) }
        let start = load.bytes.count
        for report in load.reports {
            scratch.encoder.append(DropPoint.make(report.reason, count: report.count, at: report.time))
            load.ends.append(start + scratch.encoder.count)
        }
        scratch.encoder.withUnsafeBytes { load.bytes.append(contentsOf: $0) }
        state.withLock { $0.encoders.takeBack(scratch) }
    }
}

/// What parcels come to when they are sent as one.
private struct BatchLoad: Sendable {
    fileprivate var bytes: Data
    fileprivate var ends: [Int] = []
    let precision: Precision
    /// The files that hold the lines until all of them are settled.
    private(set) var files: [BlockFile] = []
    /// The lines that are in no file, of a writer with a directory.
    private(set) var unsaved = LineSet()
    /// How many points could not be read any more, by reason.
    var lost: [DropReason: Int] = [:]
    /// The room that the lines had.
    let room: Int
    /// The drops that the last lines report, one after the other.
    var reports: [DropReport] = []

    init(_ parcels: [Parcel], precision: Precision) {
        self.precision = precision
        room = parcels.reduce(0) { $0 + $1.room }
        bytes = Data(capacity: parcels.reduce(0) { $0 + $1.bytes })
        ends.reserveCapacity(parcels.reduce(0) { $0 + $1.points })
    }

    /// Adds the lines of a parcel that is in memory.
    mutating func append(_ block: LineBlock, of parcel: Parcel) {
        unsaved = unsaved.union(parcel.unsaved.moved(by: ends.count))
        files += parcel.files
        block.forEachLine { line in
            bytes.append(contentsOf: line)
            ends.append(bytes.count)
        }
    }

    /// Adds the lines of a parcel that were read from its file.
    mutating func append(_ lines: LineBatch, of parcel: Parcel) {
        files += parcel.files
        for end in lines.ends { ends.append(bytes.count + end) }
        bytes.append(lines.bytes)
        if lines.count < parcel.points { lost[.damaged, default: 0] += parcel.points - lines.count }
    }

    /// The lines as one batch: they are whole, so there always is one.
    var batch: LineBatch {
        LineBatch(bytes: bytes, ends: ends, precision: precision) ?? LineBatch(precision: precision)
    }
}
