import LoaderChain

extension ContractCheck {
    /// The parts about cancelling before, during and after a load.
    ///
    /// The clock stands still in most of them: a cancel that needs time is ignored until then.
    static let cancelParts = [
        Part(name: "A task that is cancelled while it reaches the loader") { stage in
            let (chain, _) = stage.chain(to: .answers { _ in .success() })
            stage.stopClock()
            let probe = stage.probe()
            let task = HTTPTask(request: stage.request(probe.path)) { probe.complete($0) }
            probe.task = WeakReference(task)
            task.cancel()
            stage.call("`load(task:)`") { chain.load(task: task) }
            expectCancel(of: probe, on: stage)
        },
        Part(name: "A cancel while the task is below") { stage in
            let (chain, terminal) = stage.chain(to: .holds)
            let probe = stage.load(with: chain)
            guard arrives(probe, at: terminal, on: stage) else { return }
            stage.stopClock()
            if stage.cancel(probe) { expectCancel(of: probe, on: stage) }
        },
        cancelLockPart,
        Part(name: "A cancel that the transport answers with a response") { stage in
            let (chain, terminal) = stage.chain(to: .holdsCancelled)
            let probe = stage.load(with: chain)
            guard arrives(probe, at: terminal, on: stage) else { return }
            stage.stopClock()
            let begin = ContinuousClock.now
            stage.cancel(probe)
            let isEarly = probe.hasEnded && !(terminal.held.isEmpty && terminal.takenPaths.isEmpty)
            stage.expect(
                // Ten seconds after the cancel a Swift task is released, whatever is still busy.
                stage.check.mayLeaveCancelledTasks || !isEarly || ContinuousClock.now - begin >= .seconds(10),
                "it completed while the loader after it was still busy: complete a cancelled task when the task that "
                    + "you have passed on completes")
            stage.startClock()
            for task in terminal.held { stage.answer(task, at: terminal) }
            stage.answerAll(at: terminal, until: probe)
            expectCancel(of: probe, on: stage)
        },
        Part(name: "A cancel while the loader waits for time") { stage in
            let (chain, _) = stage.chain(to: .answers(failingAnswer))
            guard let probe = waitingForTime(with: chain, on: stage) else { return }
            if stage.cancel(probe) { expectCancel(of: probe, on: stage) }
        },
        Part(name: "A cancel while other tasks are below") { stage in
            let (chain, terminal) = stage.chain(to: .holds)
            let first = stage.load(with: chain)
            guard arrives(first, at: terminal, on: stage) else { return }
            // A loader with a limit makes some of these wait, and the next ones behind them.
            let others = (0..<8).map { _ in stage.load(with: chain) }
            cancelEight(with: chain, on: stage)
            stage.startClock()
            for probe in [first] + others {
                stage.answerAll(at: terminal, until: probe)
                stage.result(of: probe)
            }
            // Now that nothing else is in their way, more of them may be passed on.
            cancelEight(with: chain, on: stage)
            stage.startClock()
            let last = stage.load(with: chain)
            stage.answerAll(at: terminal, until: last)
            stage.result(
                of: last, "a task after others that had been cancelled",
                orSay:
                    "the loader still counts them as running: count a task until it completes, whatever its result is")
        },
        Part(name: "A cancel after the end") { stage in
            let (chain, _) = stage.chain(to: .answers { _ in .success() })
            let probe = stage.load(with: chain)
            let result = stage.result(of: probe)
            stage.cancel(probe)
            stage.expect(
                result?.error?.code != .cancelled,
                "it completed as cancelled before the cancel: fail a task with the reason for it")
            stage.expect(probe.completions <= 1, "it completed again")
        },
        Part(name: "A cancel from inside a completion handler") { stage in
            let (chain, terminal) = stage.chain(to: .holds)
            let other = stage.load(with: chain)
            let first = stage.load(with: chain) { other.cancel() }
            // Some loaders pass only one task on at a time.
            stage.answerAll(at: terminal, until: first)
            stage.cancel(other)
            stage.result(of: first)
            stage.answerAll(at: terminal, until: other)
            stage.result(of: other)
        },
    ]

    /// Loads eight tasks and cancels them, while the clock stands still.
    private static func cancelEight(with chain: HTTPLoader, on stage: ContractStage) {
        stage.stopClock()
        let probes = (0..<8).map { _ in stage.load(with: chain) }
        // A loader may have refused some of them.
        for probe in probes.filter({ stage.cancel($0) }) { expectCancel(of: probe, on: stage) }
    }

    /// Notes a violation if a cancelled task does not complete, or not as cancelled.
    private static func expectCancel(of probe: TaskProbe, on stage: ContractStage) {
        guard let result = stage.result(of: probe, "a cancelled task") else { return }
        let outcome = result.error.map { "the error \($0.code)" } ?? "success"
        stage.expect(
            result.error?.code == .cancelled,
            "a cancelled task completed with \(outcome): pass the caller's own task on, or complete it, which then "
                + "says cancelled"
        )
    }

    /// Waits until a task is at the terminal; false if it ended before, which its result explains.
    private static func arrives(_ probe: TaskProbe, at terminal: ContractTerminal, on stage: ContractStage) -> Bool {
        let isInTime = stage.wait(until: { probe.hasEnded || !terminal.held.isEmpty })
        // A loader with a deadline may have given it up.
        if isInTime, !probe.hasEnded, terminal.held.contains(where: { !$0.isCancelled }) { return true }
        stage.answerAll(at: terminal, until: probe)
        stage.result(of: probe)
        return false
    }

    // MARK: Resets

    /// The parts about resets, with and without tasks in flight.
    static let resetParts = [
        Part(name: "A reset of an idle chain") { stage in
            let (chain, terminal) = stage.chain(to: .answers { _ in .success() })
            stage.reset(chain)
            stage.expect(
                terminal.resets == 1 || chain.tail !== terminal || stage.isOver,
                "the loader after it was reset \(terminal.resets) times by one reset: call `super.reset(with:)` once in "
                    + "every override, with the same group")
            stage.result(of: stage.load(with: chain), "a task after the reset")
        },
        resetLockPart,
        Part(name: "A reset with tasks in flight") { stage in
            resetInFlight(stage, resets: 1)
        },
        Part(name: "Two resets at once") { stage in
            resetInFlight(stage, resets: 2)
        },
        Part(name: "A reset while a task waits for time") { stage in
            let (chain, _) = stage.chain(to: .answers(failingAnswer))
            guard let probe = waitingForTime(with: chain, on: stage) else { return }
            let reset = stage.beginReset(chain)
            stage.end(of: reset)
            stage.result(
                of: probe, "a task from before the reset",
                orSay:
                    "the loader left it waiting for a time. End the tasks that you hold in `reset(with:)`, or put "
                    + "an `Autocancel` before the loader")
        },
        Part(name: "A reset from inside a completion handler") { stage in
            let (chain, _) = stage.chain(to: .answers { _ in .success() })
            let reset = stage.probe()
            let probe = stage.load(with: chain) { [weak chain] in chain?.reset { reset.complete() } }
            stage.result(of: probe)
            stage.end(of: reset)
        },
    ]

    private static func resetInFlight(_ stage: ContractStage, resets: Int) {
        let (chain, terminal) = stage.chain(to: .holds)
        let probes = [stage.load(with: chain), stage.load(with: chain)]
        let ends = (0..<resets).map { _ in stage.beginReset(chain) }
        // A loader that held a task may pass it on now, and a loader before it may wait for its end.
        for probe in probes { stage.answerAll(at: terminal, until: probe) }
        for probe in probes { stage.result(of: probe) }
        for end in ends { stage.end(of: end) }
    }

    // MARK: For both

    /// The failures that loaders repeat.
    private static func failingAnswer(_ number: Int) -> ContractTerminal.Answer {
        number % 2 == 0 ? .failure(.connectionLost) : .success(.serviceUnavailable)
    }

    /// Loads tasks, one after the other, until one of them waits for the clock, which stands still.
    ///
    /// Each is awaited, so that it is known where the last one is. Nil if none of them waits.
    private static func waitingForTime(with chain: HTTPLoader, on stage: ContractStage) -> TaskProbe? {
        stage.stopClock()
        for _ in 0..<4 {
            let pending = stage.timers.pendingCount
            let probe = stage.load(with: chain)
            let isInTime = stage.wait(until: { probe.hasEnded || stage.timers.pendingCount > pending })
            guard isInTime else {
                stage.result(of: probe)
                return nil
            }
            // The timer may be that of a deadline, and the task still on its way to its place of waiting.
            if !probe.hasEnded { stage.takeAllTurns() }
            if !probe.hasEnded { return probe }
        }
        return nil
    }
}
