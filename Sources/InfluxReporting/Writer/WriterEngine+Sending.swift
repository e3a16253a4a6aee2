import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Sends points: parcels become a batch, and the undelivered lines become a parcel again.
extension WriterEngine {
    /// Starts a task that sends parcels as one batch, under the number of the last.
    ///
    /// It is detached: the task that happens to trigger the batch gives it neither its trace, with the baggage, nor its priority.
    func sending(_ parcels: [Parcel], as number: UInt64) -> Task<Void, Never> {
        Task.detached { [self] in
            var load = assemble(parcels)
            addReports(to: &load)
            state.withLock { $0.statistics.batches += 1 }
            let batch = load.batch
            let outcome = batch.isEmpty ? BatchOutcome() : await sender.send(batch)
            ended(number, load, batch, outcome)
        }
    }

    /// Removes files whose lines are settled; if that fails, the next writer of the directory sends them again.
    func remove(_ files: [BlockFile]) {
        guard let store, !files.isEmpty else { return }
        do throws(FileFailure) { reportRemoved(try store.remove(files)) } catch { emit(.trouble("\(error)")) }
    }

    /// Reports damaged files that were removed because there are newer ones.
    func reportRemoved(_ names: [String]) {
        for name in names {
            emit(.trouble("“\(name)” was removed: \(DamagedFile.mostKept) newer damaged files are kept."))
        }
    }

    private func ended(_ number: UInt64, _ load: BatchLoad, _ batch: LineBatch, _ outcome: BatchOutcome) {
        let now = look()
        let firstReport = batch.count - load.reports.count
        let left = outcome.undelivered.subtracting(LineSet(firstReport..<batch.count))
        let rest = left.isEmpty ? nil : batch.batch(of: left)
        let hasFiles = store != nil && !state.withLock(\.hasLostDirectory)
        let unsaved = hasFiles ? left.places(of: load.unsaved) : LineSet(0..<left.count)
        var parcel = rest.map { rest in
            Parcel(
                number: number, points: rest.count, bytes: rest.bytes.count, footprint: load.footprint,
                precision: rest.precision,
                block: LineBlock(rest), files: hasFiles ? load.files : [], unsaved: store == nil ? LineSet() : unsaved)
        }
        let roll = random.unit()
        // First, because the app may end the writer as soon as it learns that the lines are settled.
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
                // The report is a point like others, but no flush waits for it.
                state.statistics.accepted += 1
                let isDelivered = outcome.takeOut(batch.text(of: firstReport + index))
                if isDelivered { state.ownDelivered += 1 } else { state.ownRejected += 1 }
            }
            for (reason, count) in load.lost { state.drop(count, reason) }
            // After the end, lines that are only in memory are lost.
            let unsent = state.isStopped ? unsaved.count : 0
            state.drop(unsent, .unsent)
            parcel?.points -= unsent
            state.batching.ended(number, at: now, rest: parcel.flatMap { $0.points > 0 ? $0 : nil }) { report in
                report.note(outcome)
                for (reason, count) in load.lost { report.note(count, reason) }
            }
            if rest != nil || outcome.failure != nil {
                state.batching.wait(from: now, requested: outcome.failure?.requestedDelay, roll: roll)
            }
            let givenUp =
                if rest != nil, let failure = outcome.failure, failure.needsAttention {
                    state.batching.giveUp(on: number, because: .failure(failure))
                } else { [(FlushWaiter, FlushReport)]() }
            return (state.batching.pacing.pausedUntil.map { now.duration(to: $0) }, unsent, givenUp)
        }
        emitEvents(of: outcome, pending: (rest?.count ?? 0) - unsent, pause: pause ?? .zero)
        if store != nil, !unsaved.isEmpty, state.withLock({ $0.beginSynchronizing() }) { scheduleSynchronization() }
        announceDrops()
        for (waiter, report) in givenUp { waiter.end(with: report) }
        noteFreedSpace()
        advance()
    }

    private func emitEvents(of outcome: BatchOutcome, pending: Int, pause: Duration) {
        if outcome.deliveredCount > 0 { emit(.delivered(outcome.deliveredCount)) }
        if outcome.rejectedCount > 0 { emit(.rejected(outcome.firstRejected, count: outcome.rejectedCount)) }
        if pending > 0, let failure = outcome.failure {
            emit(.deliveryFailed(failure, pending: pending, retryAfter: pause))
        }
    }

    // MARK: Drops

    /// Writes points about the drops since the last time, unless points are held that they can be sent with, and emits events.
    func reportDrops(atOnce: Bool = false) {
        let reasons = state.withLock { $0.isShutDown || $0.batching.heldPoints > 0 ? [] : $0.takeUnreported() }
        for (reason, count) in reasons {
            let result = take { encoder, nudge in
                let time = TimeNudge.timestamp(timers.date, nudge)
                encoder.append(DropReport(reason: reason, count: count, time: time).point)
            }
            if !result.isHeld { state.withLock { $0.reportAgain(count, reason) } }
        }
        announceDrops(atOnce: atOnce)
    }

    /// Emits events about the drops since the last time; a second later if the last ones are recent, unless `atOnce` or at the end.
    func announceDrops(atOnce: Bool = false) {
        let now = timers.now
        let reasons: [DropReason: Int]
        switch state.withLock({ $0.announceDrops(at: now, atOnce: atOnce || $0.isStopped) }) {
        case .nothing: return
        case .wait(let moment):
            timers.schedule(at: moment) { [weak self] in self?.announceDrops() }
            return
        case .announce(let drops): reasons = drops
        }
        for (reason, count) in reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            emit(.dropped(count, reason))
        }
    }
}

extension BatchOutcome {
    /// The maximum size of the rejected lines of an event, with their reasons.
    private static let mostRejectedBytes = 16 << 10

    /// The first rejected lines, for an event: a stream keeps many events, even if nobody reads them.
    fileprivate var firstRejected: [RejectedLine] {
        var bytes = 0
        let first = rejected.prefix(FlushReport.maximumRejections).prefix { rejection in
            bytes += rejection.line.utf8.count + rejection.reason.utf8.count
            return bytes <= Self.mostRejectedBytes
        }
        guard first.isEmpty, let long = rejected.first else { return Array(first) }
        // The beginning of a long line is better than none.
        func cut(_ text: String) -> String {
            text.utf8.count <= Self.mostRejectedBytes / 2
                ? text : String(text.unicodeScalars.prefix(Self.mostRejectedBytes / 8)) + "…"
        }
        return [RejectedLine(line: cut(long.line), reason: cut(long.reason))]
    }
}

extension DeliveryFailure {
    fileprivate var requestedDelay: Duration? {
        if case .busy(let delay, _) = self { delay } else { nil }
    }

    /// Whether somebody has to fix something first.
    fileprivate var needsAttention: Bool {
        if case .refused = self { true } else { false }
    }
}

// MARK: - Assembling a batch

extension WriterEngine {
    private func assemble(_ parcels: [Parcel]) -> BatchLoad {
        var load = BatchLoad(parcels, precision: parcels.first?.precision ?? precision)
        for parcel in parcels {
            if let block = parcel.block {
                load.append(block, of: parcel)
            } else if let store, let file = parcel.files.first {
                do throws(FileFailure) {
                    let (lines, damagedBytes) = try store.read(file, points: parcel.points)
                    if lines.count < parcel.points {
                        emit(.damaged(file: file.name, bytes: damagedBytes))
                    }
                    load.append(lines, of: parcel)
                } catch {
                    // The file stays for the next writer of the directory.
                    load.lost[.disk, default: 0] += parcel.points
                    emit(.trouble("\(error)"))
                }
            }
        }
        return load
    }

    /// Adds points about drops to a batch, so that they are sent when the server accepts points and are never dropped themselves.
    private func addReports(to load: inout BatchLoad) {
        guard !load.ends.isEmpty, load.precision == precision else { return }
        let (scratch, nudge) = state.withLock { $0.encoders.lend() }
        let time = TimeNudge.timestamp(timers.date, nudge)
        load.reports = state.withLock { $0.takeReports(at: time) }
        let start = load.bytes.count
        for report in load.reports {
            scratch.encoder.append(report.point)
            load.ends.append(start + scratch.encoder.count)
        }
        scratch.encoder.withUnsafeBytes { load.bytes.append(contentsOf: $0) }
        state.withLock { $0.encoders.takeBack(scratch) }
    }
}

/// The lines of several parcels, and what belongs to them, while they are sent as one batch.
private struct BatchLoad: Sendable {
    fileprivate var bytes: Data
    fileprivate var ends: [Int] = []
    let precision: Precision
    /// The files that store the lines until all of them are settled.
    private(set) var files: [BlockFile] = []
    /// The lines that are in no file, if the writer has a directory.
    private(set) var unsaved = LineSet()
    /// The number of points that could no longer be read, by reason.
    var lost: [DropReason: Int] = [:]
    let footprint: Int
    /// The drops that the last lines report, in the same order.
    var reports: [DropReport] = []

    init(_ parcels: [Parcel], precision: Precision) {
        self.precision = precision
        footprint = parcels.reduce(0) { $0 + $1.footprint }
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

    /// The lines as one batch; the lines are complete, so the initializer does not fail.
    var batch: LineBatch {
        LineBatch(bytes: bytes, ends: ends, precision: precision) ?? LineBatch(precision: precision)
    }
}
