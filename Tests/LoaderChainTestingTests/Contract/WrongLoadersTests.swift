import LoaderChain
import LoaderChainTesting
import Testing

/// Loaders that each make one mistake, of which the check must say what it is.
@Suite(.timeLimit(.minutes(10))) struct WrongLoadersTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let kind: WrongLoader.Type
        /// The part that finds it.
        let part: String
        /// Words of the sentence that name it.
        let words: String

        var testDescription: String { "\(kind)" }
    }

    @Test(arguments: mistakes)
    func checkNamesMistake(_ mistake: Mistake) async {
        let made = Locked<[Made]>([])
        // Short, because each mistake that is found by waiting exhausts it.
        let violations = await ContractCheck(patience: .seconds(2), tasks: 300) { timers in
            let loader = mistake.kind.init(timers)
            made.withLock { $0.append(Made(loader)) }
            return loader
        }.run()
        for loader in made.withLock({ $0 }) { loader.object?.end() }
        #expect(violations.first?.hasPrefix(mistake.part + ": ") == true, "\(violations)")
        #expect(violations.first?.contains(mistake.words) == true, "\(violations)")
    }

    private final class Made: @unchecked Sendable {
        private(set) weak var object: WrongLoader?
        init(_ object: WrongLoader) { self.object = object }
    }

    private static let atOnce = "A terminal that answers at once"
    private static let fails = "A terminal that fails at once, eight times, and then recovers"
    private static let drops = "A terminal that drops the task"
    private static let holds = "A task that the loader after it holds for a while"
    private static let cancelled = "A cancel while the task is below"
    private static let passed = "A second thread loads a task while the first is passed on"
    private static let idle = "A reset of an idle chain"

    static let mistakes = [
        Mistake(kind: KeepsTasks.self, part: atOnce, words: "has neither passed it on nor completed it"),
        Mistake(kind: DropsTasks.self, part: atOnce, words: "Wrong released a task without completing it"),
        Mistake(kind: CompletesAfterPassingOn.self, part: holds, words: "it completed a task that it had passed on"),
        Mistake(kind: SwallowsFailures.self, part: fails, words: "Wrong released a task without completing it"),
        Mistake(kind: TurnsLossIntoSuccess.self, part: drops, words: "a task that the terminal had lost succeeded"),
        Mistake(
            kind: AnswersAnything.self, part: "A request that cannot be sent",
            words: "a request with a line break in a header was sent"),
        Mistake(
            kind: MixesUpResponses.self, part: "Two tasks that are answered in the other order",
            words: "completed with the response of another one"),
        Mistake(kind: PassesTwice.self, part: holds, words: "passed the same task on twice"),
        Mistake(kind: ChangesTheRequestTooLate.self, part: holds, words: "changed the request of a task"),
        Mistake(
            kind: LosesOptions.self, part: atOnce, words: "an option of the request did not reach the loader after it"),
        Mistake(kind: RetriesForever.self, part: drops, words: "sends requests without end"),
        Mistake(kind: IgnoresCancels.self, part: cancelled, words: "did not pass its cancel on"),
        Mistake(
            kind: AnswersCancelsTooEarly.self, part: "A cancel that the transport answers with a response",
            words: "completed while the loader after it was still busy"),
        Mistake(
            kind: CompletesWhatItPassedOnWhenCancelled.self,
            part: "A cancel that the transport answers with a response",
            words: "completed while the loader after it was still busy"),
        Mistake(kind: ForgetsItsOwnTask.self, part: cancelled, words: "forgot the task that it had passed on"),
        Mistake(kind: CapturesTasks.self, part: drops, words: "the loader still holds a task that it has passed on"),
        Mistake(kind: HoldsTasksThatHaveEnded.self, part: holds, words: "did not release a task that had ended"),
        Mistake(kind: NeverFinishesResets.self, part: idle, words: "leave the group once for every time"),
        Mistake(kind: KeepsResetsToItself.self, part: idle, words: "it was reset 0 times"),
        Mistake(kind: ResetsTheNextTwice.self, part: idle, words: "it was reset 2 times"),
        Mistake(kind: RefersToItself.self, part: atOnce, words: "the loader was not released"),
        Mistake(kind: LeavesTimers.self, part: atOnce, words: "1 timers were left waiting"),

        Mistake(kind: HoldsALock.self, part: passed, words: "across `super.load(task:)`"),
        Mistake(kind: HoldsARecursiveLock.self, part: passed, words: "across `super.load(task:)`"),
        Mistake(kind: WaitsForItsTurn.self, part: passed, words: "across `super.load(task:)`"),
        Mistake(
            kind: CompletesUnderALock.self, part: "A second thread loads a task while the first completes",
            words: "across the completion of a task"),
        Mistake(
            kind: CancelsUnderALock.self, part: "A second thread loads a task while the first is cancelled",
            words: "across a cancel"),
        Mistake(
            kind: ResetsUnderALock.self, part: "A second thread loads a task while the loader is reset",
            words: "across `super.reset(with:)`"),
        Mistake(
            kind: BlocksItsCaller.self, part: atOnce,
            words: "`load(task:)`, or a handler that it called, did not return within"),
        Mistake(kind: BlocksATimer.self, part: atOnce, words: "The action of a timer did not return within"),
        Mistake(
            kind: BlocksAHandler.self, part: atOnce,
            words: "`load(task:)`, or a handler that it called, did not return within"),
        Mistake(kind: BlocksAQueue.self, part: atOnce, words: "has neither passed it on nor completed it"),
        Mistake(
            kind: IgnoresCancelsOnATimer.self, part: "A task that is cancelled while it reaches the loader",
            words: "holds it until a time, and does not complete it when it is cancelled"),
        Mistake(
            kind: LeavesWaiters.self, part: "A reset while a task waits for time", words: "left it waiting for a time"),
        Mistake(
            kind: DropsWaiters.self, part: "A reset with tasks in flight",
            words: "Wrong released a task without completing it"),
        Mistake(kind: KeepsTheSlotsOfFailures.self, part: fails, words: "after 4 that had failed did not complete"),
        Mistake(
            kind: KeepsTheSlotsOfCancelled.self, part: "A cancel while other tasks are below",
            words: "a task after others that had been cancelled did not complete"),
        Mistake(
            kind: IgnoresCancelsInItsQueue.self, part: "A cancel while other tasks are below",
            words: "holds it, and does not complete it when it is cancelled"),
        Mistake(kind: PollsAtOnce.self, part: fails, words: "the loader holds it until a time"),
        Mistake(
            kind: PollsForSlots.self, part: "A long run of tasks, each loaded by the handler of the one before",
            words: "the run did not come to its end"),
        Mistake(
            kind: PassesWaitersUnderALock.self, part: "A second thread loads a task while a waiting task is passed on",
            words: "across `super.load(task:)`"),
    ]
}
