import LoaderChain

/// Decides which reports the outbox accepts.
extension OutboxState {
    enum Admission {
        /// The report may be written; afterwards ``confirm(_:size:)`` decides whether it stays.
        case admitted(OutboxHandle)
        /// A report with this identifier is in the outbox.
        case joins
        /// A report with this identifier is being written or removed, and the outcome is unknown.
        case isMoving
        case refused(OutboxError)
    }

    /// Decides about a submission; the size is zero if it is unknown.
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
        if let refusal = limitReached(by: size, of: size, RecordName.priority(of: flags)) { return .refused(refusal) }
        let name = RecordName(
            sequence: nextSequence, submittedMilliseconds: submitted, dueMilliseconds: submitted, attempts: 0,
            destination: destination, size: size, flags: flags, kind: kind, id: id)
        nextSequence += 1
        return .admitted(insert(OutboxEntry(name: name, phase: .writing, born: now, due: now)))
    }

    /// Decides whether a written report, whose size is now known, may be published.
    mutating func confirm(_ handle: OutboxHandle, size: Int64) -> OutboxError? {
        guard let name = self[handle]?.name else { return nil }
        if size > name.size, let refusal = limitReached(by: size - name.size, of: size, name.priority, more: 0) {
            return refusal
        }
        resize(handle, to: size)
        return nil
    }

    /// Accepts a published report, and returns the reports that are evicted for it, which happens only now that it is stored.
    mutating func accept(_ handle: OutboxHandle) -> [OutboxHandle] {
        wait(handle)
        return evictions(for: handle)
    }

    /// Takes the oldest reports with the lowest priority out of the queue, until the rest is within the limits.
    mutating func evictions(for newest: OutboxHandle? = nil) -> [OutboxHandle] {
        guard settings.whenFull == .dropOldest else { return [] }
        let priority = newest.flatMap { self[$0]?.name.priority } ?? .high
        var leaving: [OutboxHandle] = []
        var (count, bytes) = (count, bytes)
        while count > settings.maximumCount || bytes > settings.maximumBytes {
            let kept = newest ?? OutboxHandle(slot: .max, sequence: 0)
            guard let oldest = firstToGo(except: kept, upTo: priority), let entry = self[oldest]
            else { break }
            change(oldest) { $0.phase = .leaving }
            count -= 1
            bytes -= entry.name.size
            leaving.append(oldest)
        }
        return leaving
    }

    /// The error for a dead letter that cannot return because of the limits.
    func limitReached(by name: RecordName) -> OutboxError? { limitReached(by: name.size, of: name.size, name.priority) }

    /// The error if adding `size` bytes would exceed the limits, for a report with `whole` bytes in all.
    private func limitReached(
        by size: Int64, of whole: Int64, _ priority: ReportPriority, more: Int = 1
    ) -> OutboxError? {
        if settings.whenFull == .dropOldest {
            // Any report is accepted that fits beside those of a higher priority; the others can be evicted.
            guard whole <= settings.maximumBytes, settings.maximumCount >= 1 else {
                return OutboxError(.full, "A report of \(whole) bytes exceeds the limits of the outbox's settings.")
            }
            let above = load(above: priority)
            guard above.count < settings.maximumCount, above.bytes.addingClamped(whole) <= settings.maximumBytes else {
                return OutboxError(
                    .full, "The outbox is full of reports with a higher priority than \(priority).")
            }
            return nil
        }
        if count + more > settings.maximumCount {
            return OutboxError(
                .full, "The outbox has reached its limit of \(settings.maximumCount) reports; submit the report later.")
        }
        if bytes.addingClamped(size) > settings.maximumBytes {
            return OutboxError(
                .full,
                "The outbox holds \(bytes) bytes; \(size) more would exceed its limit; submit the report later.")
        }
        return nil
    }
}

/// Loads the reports of earlier launches.
extension OutboxState {
    /// Loads the reports of a directory, which are in the order of submission.
    ///
    /// A report with a date in the future counts as new, and so does a report with an implausible age. A report that is due later
    /// waits, but no longer than the longest wait that these settings allow.
    ///
    /// If two reports have the same identifier, the newer one is loaded: it was submitted after the older one had left the
    /// outbox, whose file could not be removed.
    ///
    /// - Returns: the older reports with the same identifiers.
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

    /// Whether a dead letter is in the outbox as well, because it was returned; it is one report, and not two.
    func holds(_ name: RecordName) -> Bool {
        guard let handle = handle(of: name.id), let entry = self[handle] else { return false }
        return entry.name.size == name.size
    }

    private mutating func take(_ name: RecordName, wallNow: Int64, now: TimerInstant) {
        let age = Duration.milliseconds(wallNow - name.submittedMilliseconds)
            .believableAge(limit: settings.maximumAge)
        let isPaused = name.flags.contains(.pausesDestination)
        let most = max(pacing.maximumAsked, pacing.maximum)
        let due = Duration.milliseconds(name.dueMilliseconds - wallNow)
        // A wait that is longer than any can be shows that a clock is wrong, and counts as over.
        let left = due > most + .seconds(1) ? .zero : min(max(.zero, due), isPaused ? most : pacing.maximum)
        // A report without attempts is due immediately, regardless of the clock, unless its server asked to wait.
        let delay: Duration = name.attempts == 0 && !isPaused ? .zero : left
        let handle = insert(
            OutboxEntry(
                name: name, phase: .waiting, born: now.advanced(by: .zero - age),
                due: now.advanced(by: delay),
                wasFound: true))
        if isPaused, delay > .zero {
            withLane(of: name.destination) { $0.pausedUntil = max($0.pausedUntil, now.advanced(by: delay)) }
        }
        wait(handle)
    }
}
