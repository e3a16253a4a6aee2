import LoaderChain

/// Decides which reports the box takes in.
extension BoxState {
    /// What happens to a submission.
    enum Admission {
        /// It may be written, and then ``confirm(_:size:)`` says whether it stays.
        case admitted(BoxHandle)
        /// A report of that identifier is in the box, and is the one.
        case joins
        /// One of that identifier is coming or going at this moment, with an outcome that is not known yet.
        case isMoving
        case refused(OutboxError)
    }

    /// Decides about a report of a size, zero where that is not known yet.
    mutating func admit(
        _ id: ReportID, size: Int64, submitted: Int64, destination: UInt32, flags: RecordName.Flags,
        kind: ReportKind = .standard, now: TimerInstant
    ) -> Admission {
        if let handle = handle(of: id), let entry = self[handle] {
            return entry.phase == .writing || entry.phase == .leaving ? .isMoving : .joins
        }
        guard size <= settings.maximumReportBytes else {
            return .refused(ReportStore.tooLarge(settings.maximumReportBytes))
        }
        if let refusal = lackOfRoom(for: size, of: size, RecordName.priority(of: flags)) { return .refused(refusal) }
        let name = RecordName(
            sequence: nextSequence, submittedMilliseconds: submitted, dueMilliseconds: submitted, attempts: 0,
            destination: destination, size: size, flags: flags, kind: kind, id: id)
        nextSequence += 1
        return .admitted(insert(BoxEntry(name: name, phase: .writing, born: now, due: now)))
    }

    /// Decides whether a report that is written, and whose size is known now, may get its name.
    mutating func confirm(_ handle: BoxHandle, size: Int64) -> OutboxError? {
        guard let name = self[handle]?.name else { return nil }
        if size > name.size, let refusal = lackOfRoom(for: size - name.size, of: size, name.priority, more: 0) {
            return refusal
        }
        resize(handle, to: size)
        return nil
    }

    /// Takes in a report that has its name, and returns which others make room for it.
    ///
    /// They leave only now, when the new one is safe.
    mutating func accept(_ handle: BoxHandle) -> [BoxHandle] {
        wait(handle)
        return makeRoom(for: handle)
    }

    /// The oldest of the least important reports, taken out of turn, as many as there are too many.
    mutating func makeRoom(for newest: BoxHandle? = nil) -> [BoxHandle] {
        guard settings.whenFull == .dropOldest else { return [] }
        let priority = newest.flatMap { self[$0]?.name.priority } ?? .high
        var leaving: [BoxHandle] = []
        var (count, bytes) = (count, bytes)
        while count > settings.maximumCount || bytes > settings.maximumBytes {
            let kept = newest ?? BoxHandle(slot: .max, sequence: 0)
            guard let oldest = firstToGo(except: kept, upTo: priority), let entry = self[oldest]
            else { break }
            change(oldest) { $0.phase = .leaving }
            count -= 1
            bytes -= entry.name.size
            leaving.append(oldest)
        }
        return leaving
    }

    /// Why there is no room for a report that comes back.
    func lackOfRoom(for name: RecordName) -> OutboxError? { lackOfRoom(for: name.size, of: name.size, name.priority) }

    /// Why there is no room for so many bytes more, of a report that has so many in all.
    private func lackOfRoom(
        for size: Int64, of whole: Int64, _ priority: ReportPriority, more: Int = 1
    ) -> OutboxError? {
        if settings.whenFull == .dropOldest {
            // Room can be made for any report that fits at all beside those that matter more.
            guard whole <= settings.maximumBytes, settings.maximumCount >= 1 else {
                return OutboxError(.boxFull, "A box of these settings has no room for a report of \(whole) bytes.")
            }
            let above = load(above: priority)
            guard above.count < settings.maximumCount, above.bytes.addingClamped(whole) <= settings.maximumBytes else {
                return OutboxError(
                    .boxFull, "The box is full of reports that matter more than one of \(priority) priority.")
            }
            return nil
        }
        if count + more > settings.maximumCount {
            return OutboxError(
                .boxFull, "The box holds \(count) reports, as many as its settings allow; submit it later.")
        }
        if bytes.addingClamped(size) > settings.maximumBytes {
            return OutboxError(
                .boxFull,
                "The box holds \(bytes) bytes, and \(size) more are more than its settings allow; submit it later.")
        }
        return nil
    }
}

/// Takes in what earlier launches left.
extension BoxState {
    /// Takes in the reports of a directory, which come in the order of their submission.
    ///
    /// A report dated in the future counts as new, and so does one of an unbelievable age. What is due later waits, but
    /// no longer than any wait of these settings can be.
    ///
    /// Of two reports of an identifier, the newer one is taken: the older one had left when it was submitted, and its file could not be
    /// removed.
    ///
    /// - Returns: those whose identifier a newer one has.
    mutating func load(_ names: [RecordName], wallNow: Int64, now: TimerInstant) -> [RecordName] {
        reserveCapacity(names.count)
        var newest: [ReportID: Int] = [:]
        newest.reserveCapacity(names.count)
        for index in names.indices { newest[names[index].id] = index }
        var duplicates: [RecordName] = []
        for (index, name) in names.enumerated() {
            nextSequence = max(nextSequence, name.sequence + 1)
            if newest[name.id] == index { take(name, wallNow: wallNow, now: now) } else { duplicates.append(name) }
        }
        return duplicates
    }

    /// Whether a report that was set aside is in the box all the same: it has come back, and is not two.
    func holds(_ name: RecordName) -> Bool {
        guard let handle = handle(of: name.id), let entry = self[handle] else { return false }
        return entry.name.size == name.size
    }

    @discardableResult
    mutating func take(_ name: RecordName, wallNow: Int64, now: TimerInstant) -> BoxHandle {
        let age = BelievableAge.of(
            .milliseconds(wallNow - name.submittedMilliseconds), limit: settings.maximumAge)
        let isPaused = name.flags.contains(.pausesDestination)
        let longest = isPaused ? pacing.maximumAsked : pacing.maximum
        let left = min(max(.zero, .milliseconds(name.dueMilliseconds - wallNow)), longest)
        // One that was never tried is due at once, whatever the clock showed when it came, unless its server asked for a wait.
        let delay: Duration = name.attempts == 0 && !isPaused ? .zero : left
        let handle = insert(
            BoxEntry(
                name: name, phase: .waiting, born: now.advanced(by: .zero - age),
                due: now.advanced(by: delay),
                wasFound: true))
        if isPaused, delay > .zero {
            withLane(of: name.destination) { $0.pausedUntil = max($0.pausedUntil, now.advanced(by: delay)) }
        }
        wait(handle)
        return handle
    }
}
