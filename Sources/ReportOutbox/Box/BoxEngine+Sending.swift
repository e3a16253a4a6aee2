import DurableFiles
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// Sends what is due. All of this runs on the queue.
extension BoxEngine {
    func pump() {
        shared.withLock { $0.isPumpScheduled = false }
        sweepRemains()
        dropAllWithoutConsent()
        while let handle = nextToSend() { send(handle) }
        saveDiscards()
        setAlarm()
    }

    private func nextToSend() -> BoxHandle? {
        let now = now
        return shared.withLock { shared in
            let time = shared.time(now)
            return shared.box.startNext(now: time)
        }
    }

    /// Sets the alarm for what is due next.
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
            shared.box.consent = consent
            return (consent == .given ? [] : shared.running.values.map(\.task), shared.takeUnwanted())
        }
        for task in running { task.cancel() }
        drop(unwanted)
        schedulePump()
    }

    /// Deletes everything that waits or was set aside, if there is no consent; what is being sent follows when its attempt has ended.
    func dropAllWithoutConsent() { drop(shared.withLock { $0.takeUnwanted() }) }

    private func drop(_ unwanted: Unwanted?) {
        guard let unwanted else { return }
        saveDiscards()
        for handle in unwanted.leaving { leave(handle, .dropped(.withoutConsent)) }
        for aside in unwanted.aside { removeAside(aside, because: .withoutConsent) }
    }

    // MARK: One attempt

    private func send(_ handle: BoxHandle) {
        guard let entry = shared.withLock({ $0.box[handle] }) else { return }
        // Those that were counted did not come back to be judged, as each of them has ended the process. One more may be on its way
        // without this process, and is joined by this one.
        let isTriedTooOften = Int(entry.attempts) - 1 > settings.maximumAttempts
        if let loss = entry.lossToSetAside ?? (isTriedTooOften ? ReportLoss.tooManyAttempts : nil) {
            // Nothing is sent, so the attempt that was counted when its turn came is taken back.
            shared.withLock { $0.box.change(handle) { $0.unwrittenAttempts -= min(1, $0.unwrittenAttempts) } }
            end(handle, .setAside(loss))
            return
        }
        // Counted before it begins: a report that takes the process down with it counts too.
        var name = entry.name
        name.attempts = entry.attempts
        rename(handle, entry.name, to: name)
        emit(.sending(entry.name.id, attempt: Int(clamping: entry.attempts)))
        guard let name = shared.withLock({ $0.box[handle]?.name }) else { return }
        switch prepare(name) {
        case .request(let request): load(request, handle)
        case .loss(let fate): end(handle, fate)
        case .trouble(let failure):
            trouble(failure)
            settleUnreadable(handle, cause: .error(.unknown))
        }
    }

    private func load(_ request: HTTPRequest, _ handle: BoxHandle) {
        let timedOut = Locked(false)
        let handover = AttemptHandover(
            onTake: { [weak self] in self?.enqueue { [weak self] in self?.noteHandover(of: handle) } },
            onContinues: { [weak self] in self?.enqueue { [weak self] in self?.takeBackAttempt(handle) } })
        var request = request
        request.handover = handover
        let task = HTTPTask(request: request) { [self] result in
            enqueue { [self] in finish(handle, result, timedOut: timedOut.withLock { $0 }, handover) }
        }
        let attempt = RunningAttempt(task: task)
        // From here on, who withdraws the consent finds the task and cancels it before the chain has it. A listener may have done so
        // when it heard of this attempt.
        let isStopped = shared.withLock { shared in
            if !shared.box.isStopped { shared.running[handle.sequence] = attempt }
            return shared.box.isStopped
        }
        guard !isStopped else {
            settle(handle, .interrupted, asked: .zero, loss: .failed(.cancelled), cause: .error(.cancelled))
            return
        }
        chain.startLoading(task)
        let due = settings.timers.now.advanced(by: settings.attemptTimeout)
        let isRunning = { self.shared.withLock { $0.running[handle.sequence] != nil } }
        attempt.timeout.set(on: settings.timers, for: { isRunning() ? due : nil }) { [weak task] in
            // An attempt that goes on without this process has as much time as the system gives it.
            // One that has its answer already did not wait for it in vain, even if nothing has come of that yet.
            guard let task, !handover.isTaken, !task.isCompleted else { return }
            timedOut.withLock { $0 = true }
            task.cancel()
        }
    }

    private func finish(_ handle: BoxHandle, _ result: HTTPResult, timedOut: Bool, _ handover: AttemptHandover) {
        shared.withLock { $0.running.removeValue(forKey: handle.sequence) }?.timeout.end()
        let isKept =
            if timedOut, result.error?.code == .cancelled {
                settle(
                    handle, settings.outcomes[.timedOut], asked: .zero, loss: .failed(.timedOut),
                    cause: .error(.timedOut)
                )
            } else {
                settle(handle, result, goesOn: handover.isTaken && result.error?.code == .cancelled)
            }
        if isKept { handover.confirmKept() }
        pump()
    }

    /// Notes that an attempt goes on without this process, and so that its server is not hanging as far as that goes.
    private func noteHandover(of handle: BoxHandle) {
        shared.withLock { shared in
            guard let entry = shared.box[handle], entry.phase == .sending else { return }
            shared.box.withLane(of: entry.name.destination) { $0.noteAnswer(true) }
        }
        pump()
    }

    /// Takes an attempt back that joins one that was begun and counted before.
    private func takeBackAttempt(_ handle: BoxHandle) {
        guard let entry = shared.withLock({ $0.box[handle] }), entry.phase == .sending else { return }
        // What this one would have said, the earlier one has not.
        shared.withLock { $0.discards.ended(entry.name.sequence, wasDelivered: false) }
        var name = entry.name
        name.attempts = max(1, entry.attempts) - 1
        rename(handle, entry.name, to: name)
    }

    /// Carries out what a result means for a report, and returns whether that is on the disk.
    @discardableResult
    func settle(_ handle: BoxHandle, _ result: HTTPResult, goesOn: Bool = false) -> Bool {
        let cause: RetryCause
        let loss: ReportLoss
        if let status = result.response?.status {
            (cause, loss) = (.status(status), .refused(status))
        } else {
            let code = result.error?.code ?? .unknown
            (cause, loss) = (.error(code), .failed(code))
        }
        if let error = result.error, error.underlyingError is HTTPBodyError || error.underlyingError is FileFailure {
            // The terminal could not read the report's bytes just now.
            return settleUnreadable(handle, cause: cause)
        }
        let limits = ServerLimits(
            result.response, header: settings.limitsHeader, maximum: settings.maximumRetryAfter)
        // Where a server says which reports it means, others need not wait.
        let asked = limits?.all ?? RetryAfter.delay(of: result.response, now: settings.timers.date)
        return settle(
            handle, settings.outcomes.verdict(on: result), asked: asked, limits: limits, loss: loss,
            cause: cause, goesOn: goesOn)
    }

    @discardableResult
    private func settle(
        _ handle: BoxHandle, _ verdict: ReportVerdict, asked: Duration, limits: ServerLimits? = nil, loss: ReportLoss,
        cause: RetryCause, goesOn: Bool = false
    ) -> Bool {
        decide(handle, cause) { box, time, wall in
            // What is too large now says nothing about what is small.
            let fate = box.judge(
                handle, verdict, asked: asked, isAskedOfAll: cause != .status(.contentTooLarge), loss: loss,
                goesOn: goesOn, now: time, wallNow: wall)
            // Afterwards, since a server that is paused already is not paused for its refusals.
            if let limits { box.limit(limits, by: handle, now: time) }
            return fate
        }
    }

    @discardableResult
    private func settleUnreadable(_ handle: BoxHandle, cause: RetryCause) -> Bool {
        decide(handle, cause) { box, time, wall in box.judgeUnreadable(handle, now: time, wallNow: wall) }
    }

    /// Carries out what the state decides about a report after an attempt, and returns whether that is on the disk.
    private func decide(
        _ handle: BoxHandle, _ cause: RetryCause,
        by judge: (inout BoxState, _ time: TimerInstant, _ wall: Int64) -> BoxState.Fate?
    ) -> Bool {
        let now = now
        let decision = shared.withLock { shared -> (BoxState.Fate, RecordName)? in
            let time = shared.time(now)
            guard let before = shared.box[handle]?.name, let fate = judge(&shared.box, time, now.wall) else {
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
        shared.withLock { $0.box.finish(handle, fate) }
        return isKept
    }

    /// Ends the attempts at a report that leaves the box, and returns whether that is on the disk.
    @discardableResult
    private func end(_ handle: BoxHandle, _ fate: BoxState.Fate, status: HTTPStatus? = nil) -> Bool {
        shared.withLock { $0.box.finish(handle, fate) }
        return leave(handle, fate, status: status)
    }

    /// Writes a report's new state to the disk; if that fails, the state goes on in memory.
    @discardableResult
    private func rename(_ handle: BoxHandle, _ name: RecordName, to newName: RecordName) -> Bool {
        do throws(FileFailure) {
            try store.rename(name, to: newName)
            shared.withLock { $0.box.rename(handle, to: newName) }
            return true
        } catch {
            trouble(error)
            return false
        }
    }
}

/// Makes a request of a file on the disk.
extension BoxEngine {
    private enum Preparation {
        case request(HTTPRequest)
        /// There is nothing that could be sent.
        case loss(BoxState.Fate)
        /// The disk does not answer; it may later.
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
            case .damaged: return .loss(.setAside(.damaged))
            case .sealed: return .loss(.setAside(.sealed))
            case .missing(let failure):
                if failure.isWithoutDirectory { trouble(failure) }
                return .loss(.dropped(.missingFile))
            case .failure(let failure): return .trouble(failure)
            }
        }
        // The content must be that of the report in the file's name.
        guard head.id == name.id, body.length == name.size else { return .loss(.setAside(.damaged)) }
        guard name.flags.contains(.keptOutside) else { return .request(head.request(body: body)) }
        guard let url = settings.locations?.location(of: name.id) else { return .loss(.dropped(.missingFile)) }
        guard let slice = try? FileSlice(url) else {
            let path = url.path(percentEncoded: false)
            guard FileManager.default.fileExists(atPath: path) else { return .loss(.dropped(.missingFile)) }
            return .trouble(FileFailure("read", path, code: EACCES))
        }
        guard slice.length == name.size else { return .loss(.setAside(.damaged)) }
        return .request(head.request(body: KeptBody(slice: slice)))
    }
}

extension OutboxSettings {
    /// Adds to the request of an attempt what its headers say of the report.
    fileprivate func describe(_ name: RecordName, in request: inout HTTPRequest) {
        if let attemptHeader { request.headers[attemptHeader] = "\(name.attempts)" }
        let networks = networks(for: name.priority)
        if networks != .all { request.networkAccess = networks }
        if let submittedHeader { request.headers[submittedHeader] = HTTPDate.text(name.submitted) }
    }
}

/// The bytes of a file that the app keeps.
private struct KeptBody: HTTPBody {
    let slice: FileSlice
    var isEmpty: Bool { slice.length == 0 }
    func encode() -> HTTPBodyContent { HTTPBodyContent(segments: [.file(slice)]) }
}

extension BoxEngine.Shared {
    private static let pauseBeforeSweeping = Duration.seconds(60)

    /// When something is due next, by the timers' clock.
    fileprivate mutating func alarmTime(_ now: ClockReading) -> TimerInstant? {
        let time = time(now)
        var due = box.nextDue()
        if !remains.isEmpty, !box.isClosed {
            let sweep = time.advanced(by: Self.pauseBeforeSweeping)
            due = min(due ?? sweep, sweep)
        }
        // The box's time counts what the machine slept, and the timers' does not.
        return due.map { now.instant.advanced(by: time.duration(to: $0)) }
    }
}

/// What was in the box when there was no consent.
private typealias Unwanted = (leaving: [BoxHandle], aside: [AsideName])

extension BoxEngine.Shared {
    /// Takes out what there is no consent for: under the lock of the consent, as what is submitted after it was given stays.
    fileprivate mutating func takeUnwanted() -> Unwanted? {
        guard box.consent == .denied else { return nil }
        let leaving = box.waitingHandles
        for handle in leaving { box.change(handle) { $0.phase = .leaving } }
        discards.clear()
        return (leaving, aside.trim(count: 0, bytes: 0))
    }
}
