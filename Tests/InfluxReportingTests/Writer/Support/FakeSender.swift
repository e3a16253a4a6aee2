import LoaderChain
import LoaderChainTesting

@testable import InfluxReporting

/// Takes batches and says what a test wants.
final class FakeSender: LineSender {
    typealias Answer = @Sendable (LineBatch) -> BatchOutcome

    private let state: Locked<(answer: Answer, batches: [LineBatch])>
    private let log = EventLog()

    init(_ answer: @escaping Answer = FakeSender.delivered) {
        state = Locked((answer, []))
    }

    /// Every line of every batch that came, in order.
    var batches: [[String]] { state.withLock { $0.batches }.map { batch in (0..<batch.count).map(batch.text) } }
    var count: Int { state.withLock { $0.batches.count } }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    /// Waits until so many batches have come.
    func reaches(_ count: Int) async { await log.reaches(count) }

    func send(_ batch: LineBatch) async -> BatchOutcome {
        let answer = state.withLock { state in
            state.batches.append(batch)
            return state.answer
        }
        log.note("batch")
        return answer(batch)
    }

    // MARK: Answers

    static let delivered: Answer = { batch in
        var outcome = BatchOutcome()
        outcome.deliveredCount = batch.count
        outcome.requests = 1
        return outcome
    }

    static func kept(_ obstacle: WriteObstacle) -> Answer {
        { batch in
            var outcome = BatchOutcome()
            outcome.undelivered = LineSet(0..<batch.count)
            outcome.obstacle = obstacle
            outcome.requests = 1
            return outcome
        }
    }

    static let offline = kept(.offline(reason: "no network"))
}

/// A sender whose answers wait until a test lets them go.
final class HeldSender: LineSender {
    private let waiting = Locked<[(LineBatch, CheckedContinuation<BatchOutcome, Never>)]>([])
    private let log = EventLog()

    func reaches(_ count: Int) async { await log.reaches(count) }

    func send(_ batch: LineBatch) async -> BatchOutcome {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append((batch, continuation)) }
            log.note("batch")
        }
    }

    /// Answers the one that has waited longest.
    func answer(_ answer: FakeSender.Answer = FakeSender.delivered) {
        guard let (batch, continuation) = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
        continuation.resume(returning: answer(batch))
    }
}
