import LoaderChain

/// Decides which report is next, and what becomes of it after an attempt.
extension BoxState {
    /// Whether anything may be sent at all; a change that makes this true also schedules sending.
    var maySend: Bool {
        isRunning && !isStopped && !isOffline && inFlight < settings.maximumInFlight
    }

    /// Whether what is being sent must stop.
    var isStopped: Bool { isClosed || consent != .given }

    /// The priorities of the reports that may be sent through this network, the least important first.
    private var prioritiesToSend: ArraySlice<ReportPriority> {
        ReportPriority.all[settings.leastPriority(under: conditions).rank...]
    }

    /// Takes the report that is to be sent next, if there is one and room for it.
    ///
    /// Of those that are due, the most important goes first, and of these the one that has been due the longest. At launch
    /// everything left is due at the same time, and goes by age; later on, a report that failed stands behind those that became
    /// due before it. So nothing that fails can keep others from their turn.
    ///
    /// A server that refuses everything is probed with the one that has been due the longest, whatever its priority: if the most
    /// important went first, one bad report would be every probe.
    mutating func startNext(now: TimerInstant) -> BoxHandle? {
        guard maySend else { return nil }
        for priority in prioritiesToSend.reversed() {
            if let handle = startNext(priority, now: now) { return handle }
        }
        return nil
    }

    private mutating func startNext(_ priority: ReportPriority, now: TimerInstant) -> BoxHandle? {
        var best: (lane: Int, item: DueHeap.Item)?
        for lane in lanes.indices where lanes[lane].waiting[priority].count > 0 {
            guard let item = firstWaiting(in: lane, priority), item.due <= now, lanes[lane].pausedUntil <= now,
                lanes[lane].room(settings.maximumInFlight) > 0, !lanes[lane].isProbed || isLongestDue(item, in: lane)
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

    /// When something will be due next, in the box's time; nil if nothing is before some other event.
    mutating func nextDue() -> TimerInstant? {
        guard maySend else { return nil }
        var next: TimerInstant?
        for lane in lanes.indices where lanes[lane].room(settings.maximumInFlight) > 0 {
            for priority in prioritiesToSend where lanes[lane].waiting[priority].count > 0 {
                guard let item = firstWaiting(in: lane, priority) else { continue }
                let due = max(item.due, lanes[lane].pausedUntil)
                next = min(next ?? due, due)
            }
        }
        return next
    }

    /// Whether no other that waits in a lane has been due longer.
    private mutating func isLongestDue(_ item: DueHeap.Item, in lane: Int) -> Bool {
        prioritiesToSend.allSatisfy { firstWaiting(in: lane, $0)?.precedes(item) != true }
    }

    /// The first of a lane that still waits for the time it stands there with.
    private mutating func firstWaiting(in lane: Int, _ priority: ReportPriority) -> DueHeap.Item? {
        while let item = lanes[lane].waiting[priority].first {
            let entry = self[item.handle]
            let isValid = entry?.phase == .waiting && entry?.due == item.due
            let end = entry.flatMap { lanes[lane].limits.end(of: $0.name.kind) }
            if isValid, item.due >= end ?? item.due { return item }
            lanes[lane].waiting[priority].removeFirst()
            guard isValid, let end else { continue }
            // The server does not want its kind; those behind it may be of another one.
            change(item.handle) { $0.due = end }
            wait(item.handle)
        }
        return nil
    }

    /// What becomes of a report.
    enum Fate: Hashable {
        case delivered
        /// It waits, by its new name, until it is due again.
        case waits(as: RecordName, due: TimerInstant)
        case dropped(ReportLoss)
        case setAside(ReportLoss)
    }

    /// Decides what becomes of a report after an attempt.
    ///
    /// - Parameters:
    ///   - asked: how long the server asks to wait, of which it gets what the settings grant; zero if it does not.
    ///   - isAskedOfAll: whether it asks for all reports, and not for this one alone.
    ///   - loss: why it is lost, if the verdict is that it is.
    ///   - goesOn: whether the attempt goes on without this process; then it stays counted.
    ///   - wallNow: the wall clock in milliseconds, as names have it.
    mutating func judge(
        _ handle: BoxHandle, _ verdict: ReportVerdict, asked: Duration, isAskedOfAll: Bool = true, loss: ReportLoss,
        goesOn: Bool = false, now: TimerInstant, wallNow: Int64
    ) -> Fate? {
        guard let entry = self[handle], entry.phase == .sending else { return nil }
        if consent == .denied, verdict != .delivered { return .dropped(.withoutConsent) }
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
        case .drop, .setAside: return judgeRefusal(entry, verdict, asked: asked, loss: loss, now: now, wallNow: wallNow)
        case .retry, .waitForConnection, .interrupted: break
        }
        var name = entry.name
        name.attempts = entry.attempts
        name.flags.remove(.pausesDestination)
        let pauses = asked > .zero && isAskedOfAll
        // What the app asked for before its time costs nothing, as long as it does no harm; nor does what the server
        // asks of all reports, however short the time. The age ends both. What it asks of this report alone costs an
        // attempt, since the report may be sent in vain each time.
        if verdict != .retry || entry.isHurried || pauses, !goesOn { name.attempts -= min(1, name.attempts) }
        if verdict != .interrupted, entry.born.duration(to: now) >= settings.maximumAge {
            // Only a server that answers, and does not ask for it later, has had its chance.
            return isAnswered && asked == .zero ? .dropped(.expired) : .setAside(.expired)
        }
        if verdict == .retry, name.attempts >= settings.maximumAttempts { return .setAside(.tooManyAttempts) }
        // What the server asks of all is the pace; for this report alone, the delays grow as well.
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

    /// Decides what becomes of a report that will not be taken.
    ///
    /// Where a server has refused a few in a row in the same way, the fault is hardly theirs: an address is wrong, or something is
    /// being put up. Then the report waits, and so does everything else that goes there, until one is taken again.
    private mutating func judgeRefusal(
        _ entry: BoxEntry, _ verdict: ReportVerdict, asked: Duration, loss: ReportLoss, now: TimerInstant,
        wallNow: Int64
    ) -> Fate {
        let fate: Fate = verdict == .drop ? .dropped(loss) : .setAside(loss)
        guard case .refused = loss else {
            withLane(of: entry.name.destination) { $0.misses = 0 }
            return fate
        }
        let pausedUntil = withLane(of: entry.name.destination) { [pacing, settings] lane -> TimerInstant? in
            guard lane.refuse(loss, limit: settings.refusalsBeforePause) else { return nil }
            lane.pauseForRefusals(now: now) {
                // A short wait that is asked for does not keep the pauses from growing: each probe costs an attempt.
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

    /// Notes what a server does not want for a while, by its response to a report.
    mutating func limit(_ limits: ServerLimits, by handle: BoxHandle, now: TimerInstant) {
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
                max(1, Int(name.attempts))
            }
        return pacing.delay(afterFailures: failures, asked: asked, roll: settings.random.unit())
    }

    /// Decides what becomes of a report whose bytes could not be read, which is neither the server's fault nor the report's.
    ///
    /// It costs no attempt. The delays grow all the same, and a report that has become too old is set aside and not dropped, since
    /// no server has seen it.
    mutating func judgeUnreadable(_ handle: BoxHandle, now: TimerInstant, wallNow: Int64) -> Fate? {
        guard let entry = self[handle], entry.phase == .sending else { return nil }
        if consent == .denied { return .dropped(.withoutConsent) }
        var name = entry.name
        name.attempts = max(1, entry.attempts) - 1
        if entry.born.duration(to: now) >= settings.maximumAge { return .setAside(.expired) }
        let failures = entry.readFailures + 1
        let wait = max(Self.leastWaitForDisk, pacing.delay(afterFailures: failures, roll: settings.random.unit()))
        change(handle) { $0.readFailures = failures }
        name.setDue(after: wait, from: wallNow)
        return .waits(as: name, due: now.advanced(by: wait))
    }

    /// Ends an attempt: the report waits again, or is about to leave.
    mutating func finish(_ handle: BoxHandle, _ fate: Fate) {
        guard let entry = self[handle], entry.phase == .sending else { return }
        countInFlight(-1, for: entry.name.destination)
        guard case .waits(let name, let due) = fate else {
            change(handle) { $0.phase = .leaving }
            return
        }
        change(handle) {
            $0.due = due
            // Where the new name could not be written, an attempt that does not count is taken back here alone.
            if $0.name != name { $0.unwrittenAttempts = name.attempts - min(name.attempts, $0.name.attempts) }
        }
        wait(handle)
    }

    /// Lets a report wait that could not be set aside, for as long as after so many attempts.
    mutating func stay(_ handle: BoxHandle, _ loss: ReportLoss, now: TimerInstant) {
        guard let entry = self[handle], entry.phase == .leaving else { return }
        let wait = pacing.delay(afterFailures: max(1, Int(entry.attempts)), roll: settings.random.unit())
        change(handle) {
            $0.due = now.advanced(by: max(Self.leastWaitForDisk, wait))
            $0.lossToSetAside = loss
        }
        self.wait(handle)
    }

    /// How soon a disk that has failed is tried again, even if the settings let a server be tried at once.
    private static let leastWaitForDisk = Duration.seconds(1)

    /// Notes under which name a report is on the disk now.
    mutating func rename(_ handle: BoxHandle, to name: RecordName) {
        change(handle) {
            $0.name = name
            $0.unwrittenAttempts = 0
        }
    }

    /// Makes everything due now, and ends every pause.
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

extension BoxState {
    /// Takes a report whose attempt was made elsewhere; false if it does not wait.
    mutating func beginSettling(_ handle: BoxHandle) -> Bool {
        guard let entry = self[handle], entry.phase == .waiting else { return false }
        change(handle) {
            $0.phase = .sending
            $0.unwrittenAttempts += 1
        }
        countInFlight(1, for: entry.name.destination)
        return true
    }

    /// Makes due what waits because its server was not reached.
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

    private mutating func makeDue(_ handle: BoxHandle, at now: TimerInstant) {
        change(handle) {
            if $0.due > now { ($0.due, $0.isHurried) = (now, true) }
        }
        // What the app is asked about waits afterwards.
        if self[handle]?.phase == .waiting { wait(handle) }
    }
}
