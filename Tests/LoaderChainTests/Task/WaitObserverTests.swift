import LoaderChain
import LoaderChainTesting
import Testing

/// The waits for which observers are called, depending on when they were added.
@Suite(.timeLimit(.minutes(10))) struct WaitObserverTests {
    private let task = HTTPTask(request: HTTPRequest(host: "a.test"))
    private let early = Waits()
    private let late = Waits()

    @Test func observerReceivesOnlyWholeWaits() {
        task.addWaitObserver(early)
        #expect(task.beginWait())
        task.addWaitObserver(late)
        task.endWait()
        #expect(early.log.events == ["begins", "ended"] && late.log.events.isEmpty)
        #expect(task.beginWait())
        task.endWait()
        #expect(late.log.events == ["begins", "ended"])
    }

    @Test func observerAddedAfterWaitBeganReceivesNoEnd() {
        #expect(!task.beginWait())
        task.addWaitObserver(late)
        task.endWait()
        #expect(late.log.events.isEmpty)
    }

    @Test func observerReceivesOnlyWholeWaitsOfAttempts() {
        task.addWaitObserver(early)
        let first = task.makeAttempt()
        let second = task.makeAttempt()
        #expect(first.beginWait())
        task.addWaitObserver(late)
        #expect(second.beginWait())
        #expect(late.log.events == ["begins"])
        // The wait of the other attempt is not over.
        first.endWait()
        #expect(late.log.events == ["begins"] && early.log.events == ["begins", "begins", "ended"])
        second.endWait()
        #expect(late.log.events == ["begins", "ended"])
        for attempt in [first, second] { attempt.fail(.timedOut) }
    }

    @Test func observerReceivesWaitsOfEarlierAttempts() {
        let attempt = task.makeAttempt()
        let inner = attempt.makeAttempt()
        task.addWaitObserver(late)
        for waiting in [attempt, inner] {
            #expect(waiting.beginWait())
            waiting.endWait()
        }
        #expect(late.log.events == ["begins", "ended", "begins", "ended"])
        for waiting in [inner, attempt] { waiting.fail(.timedOut) }
    }

    @Test func endWaitWithoutBeginIsIgnored() {
        task.addWaitObserver(early)
        task.endWait()
        #expect(early.log.events.isEmpty)
    }
}

private final class Waits: HTTPTaskWaitObserver {
    let log = EventLog()
    func waitBegan() { log.note("begins") }
    func waitEnded() { log.note("ended") }
    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {}
}
