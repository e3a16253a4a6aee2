import LoaderChain

/// Decides which report is sent next, and what happens to it after an attempt.
extension OutboxState {
    /// Whether sending is possible at all; a change that makes this true also schedules sending.
    var maySend: Bool {
        isRunning && !isStopped && !isOffline && inFlight < settings.maximumInFlight
    }

    var isStopped: Bool { isClosed || consent != .given }

    /// The priorities that may be sent through the current network, the lowest first.
    private var prioritiesToSend: ArraySlice<ReportPriority> {
        ReportPriority.all[settings.leastPriority(under: conditions).rank...]
    }

    /// Starts the next attempt, if a report is due and a slot is free.
    ///
    /// Among the due reports, those with the highest priority go first, and among these the report that has been due the longest.
    /// At launch, all reports are due at the same time, and go by age. Later, a report that failed goes after those that became
    /// due before it, so a failing report never starves the others.
    ///
    /// A server that rejects everything is probed with the report that has been due the longest, whatever its priority. If the
    /// highest priority went first, a single bad report would be every probe.
    mutating func startNext(now: TimerInstant) -> OutboxHandle? {
        guard maySend else { return nil }
        for priority in prioritiesToSend.reversed() {
            if let handle = startNext(priority, now: now) { return handle }
        }
        return nil
    }

    private mutating func startNext(_ priority: ReportPriority, now: TimerInstant) -> OutboxHandle? {
        var best: (lane: Int, item: DueHeap.Item)?
        for lane in lanes.indices where lanes[lane].waiting[priority].count > 0 {
            guard let item = firstWaiting(in: lane, priority), item.due <= now, lanes[lane].pausedUntil <= now,
                lanes[lane].freeSlots(settings.maximumInFlight) > 0,
                !lanes[lane].isProbed || isLongestDue(item, in: lane)
            else { continue }
            if best.map({ item.precedes($0.item) }) ?? true { best = (lane, item) }
        }
        guard let best else { return nil }
        lanes[best.lane].waiting[priority].removeFirst()
        change(best.item.handle) {
            $0.phase = .sending
            $0.unwrittenAttempts += 1
        }
        inFlight += 1
        lanes[best.lane].inFlight += 1
        return best.item.handle
    }

    /// The next due time, in the outbox's time; nil if nothing becomes due without another event.
    mutating func nextDue() -> TimerInstant? {
        guard maySend else { return nil }
        var next: TimerInstant?
        for lane in lanes.indices where lanes[lane].freeSlots(settings.maximumInFlight) > 0 {
            for priority in prioritiesToSend where lanes[lane].waiting[priority].count > 0 {
                guard let item = firstWaiting(in: lane, priority) else { continue }
                let due = max(item.due, lanes[lane].pausedUntil)
                next = min(next ?? due, due)
            }
        }
        return next
    }

    /// Whether no other report in the lane has been due longer.
    private mutating func isLongestDue(_ item: DueHeap.Item, in lane: Int) -> Bool {
        prioritiesToSend.allSatisfy { firstWaiting(in: lane, $0)?.precedes(item) != true }
    }

    /// The first valid item of a lane and priority; invalid items are removed.
    private mutating func firstWaiting(in lane: Int, _ priority: ReportPriority) -> DueHeap.Item? {
        while let item = lanes[lane].waiting[priority].first {
            let isValid = isValid(item)
            let end = self[item.handle].flatMap { lanes[lane].limits.end(of: $0.name.kind) }
            if isValid, item.due >= end ?? item.due { return item }
            lanes[lane].waiting[priority].removeFirst()
            guard isValid, let end else { continue }
            // The server has limited this kind; the reports after it may be of other kinds.
            change(item.handle) { $0.due = end }
            wait(item.handle)
        }
        return nil
    }

    enum Fate: Hashable {
        case delivered
        /// The report waits under its new name until it is due.
        case waits(as: RecordName, due: TimerInstant)
        case dropped(ReportLoss)
        case deadLetter(ReportLoss)
    }

    /// Decides what happens to a report after an attempt.
    ///
    /// - Parameters:
    ///   - asked: the wait that the server asked for, before the limit of the settings; zero for none.
    ///   - isAskedOfAll: whether the server asked all reports to wait, and not only this one.
    ///   - loss: the reason of the loss, if the verdict is a loss.
    ///   - goesOn: whether the attempt continues without this process; in that case it stays counted.
    ///   - wallNow: the wall clock in milliseconds, as in report names.
    mutating func judge(
        _ handle: OutboxHandle, _ verdict: ReportVerdict, asked: Duration, isAskedOfAll: Bool = true, loss: ReportLoss,
        goesOn: Bool = false, now: TimerInstant, wallNow: Int64
    ) -> Fate? {
        guard let entry = self[handle], entry.phase == .sending else { return nil }
        if consent == .denied || entry.isUnwanted, verdict != .delivered { return .dropped(.withoutConsent) }
        let asked = pacing.granted(asked)
        let isAnswered = if case .refused = loss { true } else { verdict == .delivered }
        change(handle) {
            $0.readFailures = 0
            $0.isHurried = false
        }
        if verdict != .interrupted { withLane(of: entry.name.destination) { $0.noteAnswer(isAnswered) } }
        switch verdict {
        case .delivered:
            withLane(of: entry.name.destination) { $0.accept() }
            return .delivered
        case .drop, .deadLetter:
            return judgeRefusal(entry, verdict, asked: asked, loss: loss, now: now, wallNow: wallNow)
        case .retry, .waitForConnection, .interrupted: break
        }
        var name = entry.name
        name.attempts = entry.attempts
        name.flags.remove(.pausesDestination)
        let pauses = asked > .zero && isAskedOfAll
        // An attempt that the app requested early does not count, nor an attempt after which the server asked all reports to wait,
        // however short the wait. The maximum age ends both. A wait for this report alone counts, because the report may fail every
        // time.
        if verdict != .retry || entry.isHurried || pauses, !goesOn { name.attempts -= min(1, name.attempts) }
        if verdict != .interrupted, entry.born.duration(to: now) >= settings.maximumAge {
            // A report is dropped only if a server answered, and did not ask to wait.
            return isAnswered && asked == .zero ? .dropped(.expired) : .deadLetter(.expired)
        }
        if verdict == .retry, name.attempts >= settings.maximumAttempts { return .deadLetter(.tooManyAttempts) }
        // A wait that the server asks of all reports is used unchanged; for a wait of this report alone, the delays grow too.
        let wait = max(asked, delay(for: name, verdict, asked: pauses ? asked : .zero))
        let due = now.advanced(by: wait)
        withLane(of: name.destination) { lane in
            if verdict == .waitForConnection || pauses { lane.pausedUntil = max(lane.pausedUntil, due) }
            if verdict == .retry { lane.misses = 0 }
        }
        if pauses { name.flags.insert(.pausesDestination) }
        name.setDue(after: wait, from: wallNow)
        return .waits(as: name, due: due)
    }

    /// Decides what happens to a report that was permanently rejected.
    ///
    /// If a server has rejected several reports in a row in the same way, the fault is probably not theirs: an address is wrong,
    /// or a server is being set up. The report and all others for that server then wait until a report is accepted.
    private mutating func judgeRefusal(
        _ entry: OutboxEntry, _ verdict: ReportVerdict, asked: Duration, loss: ReportLoss, now: TimerInstant,
        wallNow: Int64
    ) -> Fate {
        let fate: Fate = verdict == .drop ? .dropped(loss) : .deadLetter(loss)
        guard case .refused = loss else {
            withLane(of: entry.name.destination) { $0.misses = 0 }
            return fate
        }
        let pausedUntil = withLane(of: entry.name.destination) { [pacing, settings] lane -> TimerInstant? in
            guard lane.refuse(loss, limit: settings.refusalsBeforePause) else { return nil }
            lane.pauseForRefusals(now: now) {
                // A short wait that the server asked for must not keep the pauses short: each probe counts as an attempt.
                max(asked, pacing.delay(afterFailures: $0, roll: settings.random.unit()))
            }
            return lane.pausedUntil
        }
        let isOver = entry.born.duration(to: now) >= settings.maximumAge || entry.attempts >= settings.maximumAttempts
        guard let pausedUntil, !isOver else { return fate }
        var name = entry.name
        name.attempts = entry.attempts
        name.flags.insert(.pausesDestination)
        name.setDue(after: now.duration(to: pausedUntil), from: wallNow)
        return .waits(as: name, due: pausedUntil)
    }

    /// Applies the rate limits in the response to a report.
    mutating func limit(_ limits: ServerLimits, by handle: OutboxHandle, now: TimerInstant) {
        guard let entry = self[handle] else { return }
        withLane(of: entry.name.destination) { lane in
            if limits.all > .zero { lane.pausedUntil = max(lane.pausedUntil, now.advanced(by: limits.all)) }
            for (kind, delay) in limits.kinds { lane.limits.limit(kind, until: now.advanced(by: delay), now: now) }
        }
    }

    private mutating func delay(for name: RecordName, _ verdict: ReportVerdict, asked: Duration) -> Duration {
        let failures =
            if verdict == .waitForConnection {
                withLane(of: name.destination) { lane in
                    lane.misses += 1
                    return lane.misses
                }
            } else {
                max(1, Int(clamping: name.attempts))
            }
        return pacing.delay(afterFailures: failures, asked: asked, roll: settings.random.unit())
    }

    /// Decides what happens to a report whose bytes could not be read, which is neither the server's fault nor the report's.
    ///
    /// The attempt does not count. The delays grow nevertheless, and a report that exceeds the maximum age becomes a dead letter
    /// and is not dropped, because no server has seen it.
    mutating func judgeUnreadable(_ handle: OutboxHandle, now: TimerInstant, wallNow: Int64) -> Fate? {
        guard let entry = self[handle], entry.phase == .sending else { return nil }
        if consent == .denied || entry.isUnwanted { return .dropped(.withoutConsent) }
        var name = entry.name
        name.attempts = max(1, entry.attempts) - 1
        if entry.born.duration(to: now) >= settings.maximumAge { return .deadLetter(.expired) }
        let failures = entry.readFailures + 1
        let wait = max(Self.leastWaitForDisk, pacing.delay(afterFailures: failures, roll: settings.random.unit()))
        change(handle) { $0.readFailures = failures }
        name.setDue(after: wait, from: wallNow)
        return .waits(as: name, due: now.advanced(by: wait))
    }

    /// Ends an attempt: the report waits again, or leaves.
    mutating func finish(_ handle: OutboxHandle, _ fate: Fate) {
        guard let entry = self[handle], entry.phase == .sending else { return }
        inFlight -= 1
        withLane(of: entry.name.destination) { $0.inFlight -= 1 }
        guard case .waits(let name, let due) = fate else {
            change(handle) { $0.phase = .leaving }
            return
        }
        change(handle) {
            $0.due = due
            // If the new name could not be written, an attempt that does not count is subtracted only in memory.
            if $0.name != name { $0.unwrittenAttempts = name.attempts - min(name.attempts, $0.name.attempts) }
        }
        wait(handle)
    }

    /// Makes a report wait that could not become a dead letter, with the delay for its number of attempts.
    mutating func stay(_ handle: OutboxHandle, _ loss: ReportLoss, now: TimerInstant) {
        guard let entry = self[handle], entry.phase == .leaving else { return }
        let wait = pacing.delay(afterFailures: max(1, Int(clamping: entry.attempts)), roll: settings.random.unit())
        change(handle) {
            $0.due = now.advanced(by: max(Self.leastWaitForDisk, wait))
            $0.deadLetterLoss = loss
        }
        self.wait(handle)
    }

    /// The minimum delay after a disk error, even if the settings allow to retry a server immediately.
    private static let leastWaitForDisk = Duration.seconds(1)

    /// Sets the name that a report now has on disk.
    mutating func rename(_ handle: OutboxHandle, to name: RecordName) {
        change(handle) {
            $0.name = name
            $0.unwrittenAttempts = 0
        }
    }

    /// Makes all reports due now, and ends every pause.
    mutating func hurry(now: TimerInstant) {
        for lane in lanes.indices {
            lanes[lane].pausedUntil = .distantPast
            lanes[lane].misses = 0
            lanes[lane].limits = KindLimits()
            lanes[lane].waiting.removeAll()
        }
        for handle in unsentHandles { makeDue(handle, at: now) }
    }
}

extension OutboxState {
    /// Makes the reports due whose server was not reached.
    mutating func hurryAfterMisses(now: TimerInstant) {
        var missed: Set<Int> = []
        for lane in lanes.indices where lanes[lane].misses > 0 {
            missed.insert(lane)
            lanes[lane].misses = 0
            lanes[lane].pausedUntil = .distantPast
            lanes[lane].waiting.removeAll()
        }
        guard !missed.isEmpty else { return }
        for handle in unsentHandles {
            guard let entry = self[handle], missed.contains(lane(entry.name.destination)) else { continue }
            makeDue(handle, at: now)
        }
    }

    private mutating func makeDue(_ handle: OutboxHandle, at now: TimerInstant) {
        change(handle) {
            if $0.due > now { ($0.due, $0.isHurried) = (now, true) }
        }
        // A report that the app is being asked about waits afterwards.
        if self[handle]?.phase == .waiting { wait(handle) }
    }
}
