import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Sends points: parcels become a batch, and what is left of it comes back.
extension WriterEngine {
    /// Sends parcels as one batch, in a task of its own.
    func send(_ parcels: [Parcel<HeldLines>]) {
        guard let number = parcels.last?.number else { return }
        let sending = Task { [self] in
            let load = assemble(parcels)
            shared.withLock { $0.statistics.batches += 1 }
            let outcome = load.batch.isEmpty ? BatchOutcome() : await sender.send(load.batch)
            ended(number, load, outcome)
        }
        shared.withLock { shared in
            // It may have ended already.
            if shared.batching.inFlight[number] != nil { shared.sendings[number] = sending }
        }
    }

    /// Forgets files whose lines are settled; one that cannot be removed is sent again by the next writer of the directory.
    func remove(_ files: [BlockFile]) {
        guard !files.isEmpty else { return }
        do throws(FileFailure) { try store.remove(files) } catch { listeners.tell(.trouble("\(error)")) }
    }

    /// A batch has come to its end.
    private func ended(_ number: UInt64, _ load: BatchLoad, _ outcome: BatchOutcome) {
        let now = timers.now
        let rest = outcome.undelivered.isEmpty ? nil : load.batch.batch(of: outcome.undelivered)
        let roll = random.unit()
        // Before the app hears that they are settled, and ends the writer.
        if rest == nil { remove(load.files) }
        let (pause, unsent, done) = shared.withLock { shared in
            shared.sendings[number] = nil
            shared.statistics.note(outcome)
            for (reason, count) in load.lost { shared.drop(count, reason) }
            let parcel = rest.map { rest in
                Parcel(
                    number: number, points: rest.count, bytes: rest.bytes.count, room: rest.bytes.count,
                    precision: rest.precision, content: HeldLines.batch(rest, files: load.files))
            }
            // When all is over, what is in memory alone is lost.
            let unsent = shared.isStopped && load.files.isEmpty ? rest?.count ?? 0 : 0
            shared.drop(unsent, .unsent)
            shared.batching.ended(number, rest: unsent > 0 ? nil : parcel) { report in
                report.note(outcome)
                for (reason, count) in load.lost { report.note(count, reason) }
            }
            if rest != nil {
                shared.batching.wait(from: now, told: outcome.obstacle?.toldDelay, roll: roll)
            }
            var done = shared.batching.takeDone()
            if rest != nil, let obstacle = outcome.obstacle, obstacle.needsAttention {
                done += shared.batching.giveUp(on: number, because: .obstacle(obstacle))
            }
            return (shared.batching.pacing.pausedUntil.map { now.duration(to: $0) }, unsent, done)
        }
        tell(outcome, kept: (rest?.count ?? 0) - unsent, pause: pause ?? .zero)
        // A server that takes points takes the news of those it will never see, too; a caller that flushes again sends it.
        if outcome.deliveredCount > 0 { reportDrops() } else { tellDrops() }
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

    /// Writes points about what was dropped since the last time, and tells it.
    func reportDrops(atOnce: Bool = false) {
        let reasons = shared.withLock { $0.isShutDown ? [:] : $0.takeUnreported() }
        for (reason, count) in reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            _ = take { encoder, nudge in
                encoder.append(DropPoint.make(reason, count: count, at: TimeNudge.timestamp(timers.date, nudge)))
            }
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
    func removeDropped(_ dropped: [HeldLines]) {
        tellDrops()
        let files = dropped.flatMap(\.files)
        if !files.isEmpty { queue.async { [self] in remove(files) } }
    }
}

extension WriteObstacle {
    /// How long the server asks to wait.
    var toldDelay: Duration? {
        if case .busy(let delay, _) = self { delay } else { nil }
    }

    /// Whether waiting does not help.
    var needsAttention: Bool {
        if case .refused = self { true } else { false }
    }
}
