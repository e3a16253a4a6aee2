import DurableFiles
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// Sends the due reports. All of this runs on the queue.
extension OutboxEngine {
    func pump() {
        shared.withLock { $0.isPumpScheduled = false }
        sweepRemains()
        dropAllWithoutConsent()
        while let handle = nextToSend() { send(handle) }
        saveDiscards()
        setAlarm()
    }

    private func nextToSend() -> OutboxHandle? {
        withTime { shared, time, _ in shared.outbox.startNext(now: time) }
    }

    private func setAlarm() {
        let now = now
        alarm.set(on: settings.timers, for: { shared.withLock { $0.alarmTime(now) } }) { [weak self] in
            self?.schedulePump()
        }
    }

    // MARK: Consent

    func setConsent(_ consent: ReportConsent) {
        guard enter() else { return }
        defer { exit() }
        let (running, unwanted) = shared.withLock { shared in
            shared.outbox.consent = consent
            return (consent == .given ? [] : shared.running.values.map(\.task), shared.takeUnwanted())
        }
        for task in running { cancel(task) }
        drop(unwanted)
        schedulePump()
    }

    /// Deletes all waiting reports and dead letters if consent is denied; reports that are being sent follow when their attempts
    /// end.
    func dropAllWithoutConsent() { drop(shared.withLock { $0.takeUnwanted() }) }

    /// Queues a report until it is due, unless consent was denied meanwhile.
    func wait(_ handle: OutboxHandle) {
        let isUnwanted = shared.withLock { shared in
            shared.outbox.wait(handle)
            return shared.outbox.takeIfUnwanted(handle)
        }
        if isUnwanted { leave(handle, .dropped(.withoutConsent)) }
    }

    private func drop(_ unwanted: Unwanted?) {
        guard let unwanted else { return }
        saveDiscards()
        drop(leaving: unwanted.leaving, because: .withoutConsent)
        for deadLetter in unwanted.deadLetters { removeDeadLetter(deadLetter, because: .withoutConsent) }
    }

    // MARK: One attempt

    private func send(_ handle: OutboxHandle) {
        guard let entry = shared.withLock({ $0.outbox[handle] }) else { return }
        // Each counted attempt that did not return has ended the process. One more may be under way without this process, and this
        // attempt would join it.
        let isTriedTooOften = Int(clamping: entry.attempts) - 1 > settings.maximumAttempts
        if let loss = entry.deadLetterLoss ?? (isTriedTooOften ? ReportLoss.tooManyAttempts : nil) {
            // Nothing is sent, so the attempt that was counted at its start is subtracted.
            shared.withLock { $0.outbox.change(handle) { $0.unwrittenAttempts -= min(1, $0.unwrittenAttempts) } }
            end(handle, .deadLetter(loss))
            return
        }
        // Counted before it starts, so that an attempt that crashes the process counts too.
        var name = entry.name
        name.attempts = entry.attempts
        rename(handle, entry.name, to: name)
        emit(.sending(entry.name.id, attempt: Int(clamping: entry.attempts)))
        guard let name = shared.withLock({ $0.outbox[handle]?.name }) else { return }
        switch prepare(name) {
        case .request(let request): load(request, handle)
        case .loss(let fate): end(handle, fate)
        case .trouble(let failure):
            trouble(failure)
            settleUnreadable(handle, cause: .error(.unknown))
        }
    }

    private func load(_ request: HTTPRequest, _ handle: OutboxHandle) {
        let timedOut = Locked(false)
        let handover = AttemptHandover(
            onTake: { [weak self] in self?.enqueue { [weak self] in self?.noteHandover(of: handle) } },
            onContinues: { [weak self] in self?.enqueue { [weak self] in self?.subtractAttempt(handle) } })
        var request = request
        request.handover = handover
        let task = HTTPTask(request: request)
        let attempt = RunningAttempt(task: task)
        // From here on, a withdrawal of consent finds the task and cancels it before the chain gets it. A listener may have
        // withdrawn it when it received the event of this attempt.
        let isStopped = shared.withLock { shared in
            if !shared.outbox.isStopped { shared.running[handle.sequence] = attempt }
            return shared.outbox.isStopped
        }
        guard !isStopped else {
            settle(handle, .interrupted, cause: .error(.cancelled))
            return
        }
        // Not before: the end of a task that no loader gets would end the next attempt of this report.
        task.addCompletionHandler { [self] result in
            enqueue { [self] in finish(handle, result, timedOut: timedOut.withLock { $0 }, handover) }
        }
        chain.startLoading(task)
        let due = settings.timers.now.advanced(by: settings.attemptTimeout)
        let isRunning = { self.shared.withLock { $0.running[handle.sequence] != nil } }
        attempt.timeout.set(on: settings.timers, for: { isRunning() ? due : nil }) { [weak self, weak task] in
            // An attempt that continues without this process has the time that the system gives it. An attempt that has its
            // response is not cancelled, even if the outbox has not handled the response yet.
            guard let self, let task, !handover.isTaken, !task.isCompleted else { return }
            timedOut.withLock { $0 = true }
            cancel(task)
        }
    }

    /// How long a loader has to end an attempt that was cancelled.
    private static let patience = Duration.seconds(10)

    /// Cancels an attempt, and ends it if its loader ignores that: otherwise it would keep its place and `close()` for ever.
    func cancel(_ task: HTTPTask) {
        task.cancel()
        guard !task.isCompleted else { return }
        let timer = settings.timers.schedule(after: Self.patience) { [weak task] in
            task?.fail(.cancelled, reason: "The loader ignored the cancel of this attempt")
        }
        task.addCompletionHandler { timer.cancel() }
    }

    private func finish(_ handle: OutboxHandle, _ result: HTTPResult, timedOut: Bool, _ handover: AttemptHandover) {
        shared.withLock { $0.running.removeValue(forKey: handle.sequence) }?.timeout.end()
        let isKept =
            if timedOut, result.error?.code == .cancelled {
                settle(handle, settings.outcomes[.timedOut], cause: .error(.timedOut))
            } else {
                settle(handle, result, goesOn: handover.isTaken && result.error?.code == .cancelled)
            }
        if isKept { handover.confirmKept() }
        pump()
    }

    /// Notes that an attempt continues without this process, so that its server does not count as hanging.
    private func noteHandover(of handle: OutboxHandle) {
        shared.withLock { shared in
            guard let entry = shared.outbox[handle], entry.phase == .sending else { return }
            shared.outbox.withLane(of: entry.name.destination) { $0.noteAnswer(true) }
        }
        pump()
    }

    /// Subtracts an attempt that joined an earlier one, which was counted already.
    private func subtractAttempt(_ handle: OutboxHandle) {
        guard let entry = shared.withLock({ $0.outbox[handle] }), entry.phase == .sending else { return }
        // The earlier attempt does not carry the counts that this one would have carried.
        shared.withLock { $0.discards.ended(entry.name.sequence, wasDelivered: false) }
        var name = entry.name
        name.attempts = max(1, entry.attempts) - 1
        rename(handle, entry.name, to: name)
    }

    /// Applies the result of an attempt to a report, and returns whether the outcome is on disk.
    private func settle(_ handle: OutboxHandle, _ result: HTTPResult, goesOn: Bool) -> Bool {
        let cause = result.response.map { RetryCause.status($0.status) } ?? .error(result.error?.code ?? .unknown)
        if let error = result.error, error.underlyingError is HTTPBodyError || error.underlyingError is FileFailure {
            // The terminal could not read the report's bytes this time.
            return settleUnreadable(handle, cause: cause)
        }
        let limits = ServerLimits(
            result.response, header: settings.limitsHeader, maximum: settings.maximumRetryAfter)
        // If a server limits some kinds of reports, the others need not wait.
        let asked = limits?.all ?? RetryAfter.delay(of: result.response, now: settings.timers.date)
        return settle(
            handle, settings.outcomes.verdict(on: result), cause: cause, asked: asked, limits: limits, goesOn: goesOn)
    }

    @discardableResult
    private func settle(
        _ handle: OutboxHandle, _ verdict: ReportVerdict, cause: RetryCause, asked: Duration = .zero,
        limits: ServerLimits? = nil, goesOn: Bool = false
    ) -> Bool {
        decide(handle, cause) { outbox, time, wall in
            // A report that is too large says nothing about smaller ones.
            let fate = outbox.judge(
                handle, verdict, asked: asked, isAskedOfAll: cause != .status(.contentTooLarge), loss: cause.loss,
                goesOn: goesOn, now: time, wallNow: wall)
            // Afterwards, because a server that is already paused would not be paused for its rejections.
            if let limits { outbox.limit(limits, by: handle, now: time) }
            return fate
        }
    }

    @discardableResult
    private func settleUnreadable(_ handle: OutboxHandle, cause: RetryCause) -> Bool {
        decide(handle, cause) { outbox, time, wall in outbox.judgeUnreadable(handle, now: time, wallNow: wall) }
    }

    /// Carries out the decision about a report after an attempt, and returns whether the outcome is on disk.
    private func decide(
        _ handle: OutboxHandle, _ cause: RetryCause,
        by judge: (inout OutboxState, _ time: TimerInstant, _ wall: Int64) -> OutboxState.Fate?
    ) -> Bool {
        let decision = withTime { shared, time, now -> (OutboxState.Fate, RecordName)? in
            guard let before = shared.outbox[handle]?.name, let fate = judge(&shared.outbox, time, now.wall) else {
                return nil
            }
            return (fate, before)
        }
        guard let (fate, before) = decision else { return false }
        shared.withLock { $0.discards.ended(before.sequence, wasDelivered: fate == .delivered) }
        guard case .waits(let name, _) = fate else {
            if case .status(let status) = cause, fate == .delivered { return end(handle, fate, status: status) }
            return end(handle, fate)
        }
        let isKept = rename(handle, before, to: name)
        emit(.willRetry(name.id, at: name.due, after: cause))
        shared.withLock { $0.outbox.finish(handle, fate) }
        return isKept
    }

    /// Ends the last attempt of a report that leaves the outbox, and returns whether its file has been removed.
    @discardableResult
    private func end(_ handle: OutboxHandle, _ fate: OutboxState.Fate, status: HTTPStatus? = nil) -> Bool {
        shared.withLock { $0.outbox.finish(handle, fate) }
        return leave(handle, fate, status: status)
    }

    /// Saves a report's new state; if that fails, the state is kept in memory only.
    @discardableResult
    private func rename(_ handle: OutboxHandle, _ name: RecordName, to newName: RecordName) -> Bool {
        do throws(FileFailure) {
            try store.rename(name, to: newName)
            shared.withLock { $0.outbox.rename(handle, to: newName) }
            return true
        } catch {
            trouble(error)
            return false
        }
    }
}

/// Makes the requests of attempts from the files.
extension OutboxEngine {
    private enum Preparation {
        case request(HTTPRequest)
        /// The report cannot be sent.
        case loss(OutboxState.Fate)
        /// Reading failed, perhaps temporarily.
        case trouble(FileFailure)
    }

    private func prepare(_ name: RecordName) -> Preparation {
        let preparation = read(name)
        guard case .request(var request) = preparation else { return preparation }
        settings.describe(name, in: &request)
        addDiscards(to: &request, of: name)
        return .request(request)
    }

    private func read(_ name: RecordName) -> Preparation {
        let head: RecordHead
        let body: StoredBody
        do throws(RecordProblem) {
            (head, body) = try store.read(name.text)
        } catch {
            switch error {
            case .damaged: return .loss(.deadLetter(.damaged))
            case .sealed: return .loss(.deadLetter(.sealed))
            case .missing(let failure):
                if failure.isWithoutDirectory { trouble(failure) }
                return .loss(.dropped(.missingFile))
            case .failure(let failure): return .trouble(failure)
            }
        }
        // The file must contain the report that its name describes.
        guard head.id == name.id, body.length == name.size else { return .loss(.deadLetter(.damaged)) }
        guard name.flags.contains(.keptOutside) else { return .request(head.request(body: body)) }
        guard let url = settings.locations?.location(of: name.id) else { return .loss(.dropped(.missingFile)) }
        guard let slice = try? FileSlice(url) else {
            let path = url.path(percentEncoded: false)
            guard FileManager.default.fileExists(atPath: path) else { return .loss(.dropped(.missingFile)) }
            return .trouble(FileFailure("read", path, code: EACCES))
        }
        guard slice.length == name.size else { return .loss(.deadLetter(.damaged)) }
        return .request(head.request(body: KeptBody(slice: slice)))
    }
}

extension OutboxSettings {
    /// Adds the headers that describe the attempt and the report.
    fileprivate func describe(_ name: RecordName, in request: inout HTTPRequest) {
        if let attemptHeader { request.headers[attemptHeader] = "\(name.attempts)" }
        let networks = networks(for: name.priority)
        if networks != .all { request.networkAccess = networks }
        if let submittedHeader { request.headers[submittedHeader] = HTTPDate.text(name.submitted) }
    }
}

/// The contents of a file that the app keeps.
private struct KeptBody: HTTPBody {
    let slice: FileSlice
    var isEmpty: Bool { slice.length == 0 }
    func encode() -> HTTPBodyContent { HTTPBodyContent(segments: [.file(slice)]) }
}

extension OutboxEngine.Shared {
    private static let pauseBeforeSweeping = Duration.seconds(60)

    /// The next due time, by the clock of the timers.
    fileprivate mutating func alarmTime(_ now: ClockReading) -> TimerInstant? {
        let time = time(now)
        var due = outbox.nextDue()
        if !remains.isEmpty, !outbox.isClosed {
            let sweep = time.advanced(by: Self.pauseBeforeSweeping)
            due = min(due ?? sweep, sweep)
        }
        // The outbox's time includes the sleep of the machine; that of the timers does not.
        return due.map { now.instant.advanced(by: min(time.duration(to: $0), SleepMeter.longestAlarm)) }
    }
}

/// The reports and dead letters to delete because consent is denied.
private typealias Unwanted = (leaving: [OutboxHandle], deadLetters: [DeadLetterName])

extension OutboxEngine.Shared {
    /// Removes all reports without consent, under the lock, so that reports submitted after a later consent stay.
    fileprivate mutating func takeUnwanted() -> Unwanted? {
        guard outbox.consent == .denied else { return nil }
        let leaving = outbox.waitingHandles
        for handle in leaving { outbox.change(handle) { $0.phase = .leaving } }
        outbox.markUnwanted()
        discards.clear()
        return (leaving, deadLetters.trim(count: 0, bytes: 0))
    }
}
