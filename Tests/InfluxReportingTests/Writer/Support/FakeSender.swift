import LoaderChain
import LoaderChainTesting

@testable import InfluxReporting

/// A sender with scripted outcomes.
final class FakeSender: LineSender {
    typealias Answer = @Sendable (LineBatch) -> BatchOutcome

    private let state: Locked<(answer: Answer, batches: [LineBatch])>
    private let log = EventLog()

    init(_ answer: @escaping Answer = FakeSender.delivered) {
        state = Locked((answer, []))
    }

    /// All lines of all batches, in order.
    var batches: [[String]] { state.withLock { $0.batches }.map { batch in (0..<batch.count).map(batch.text) } }
    var count: Int { state.withLock { $0.batches.count } }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    /// Waits until the given number of batches was sent.
    func waitForEvents(_ count: Int) async { await log.waitForEvents(count) }

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

    static func failing(_ failure: DeliveryFailure) -> Answer {
        { batch in
            var outcome = BatchOutcome()
            outcome.undelivered = LineSet(0..<batch.count)
            outcome.failure = failure
            outcome.requests = 1
            return outcome
        }
    }

    static let offline = failing(.offline(reason: "no network"))
}

/// A sender that holds its outcomes until a test releases them, or the sending is cancelled.
final class HeldSender: LineSender {
    private struct State: Sendable {
        var waiting: [(batch: LineBatch, continuation: CheckedContinuation<BatchOutcome, Never>)] = []
        var answers: [FakeSender.Answer] = []
        var isCancelled = false
    }

    private let state = Locked(State())
    private let log = EventLog()

    func waitForEvents(_ count: Int) async { await log.waitForEvents(count) }

    func send(_ batch: LineBatch) async -> BatchOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> FakeSender.Answer? in
                    if state.isCancelled { return FakeSender.failing(.interrupted) }
                    if !state.answers.isEmpty { return state.answers.removeFirst() }
                    state.waiting.append((batch, continuation))
                    return nil
                }
                log.note("batch")
                if let answer { continuation.resume(returning: answer(batch)) }
            }
        } onCancel: {
            // The writer cancels all of its sendings, or none.
            let waiting = state.withLock { state in
                state.isCancelled = true
                return replace(&state.waiting, with: [])
            }
            for (batch, continuation) in waiting {
                continuation.resume(returning: FakeSender.failing(.interrupted)(batch))
            }
        }
    }

    /// Answers the batch that has waited longest, or the next batch if none waits yet.
    func answer(_ answer: @escaping FakeSender.Answer = FakeSender.delivered) {
        let first = state.withLock { state -> (LineBatch, CheckedContinuation<BatchOutcome, Never>)? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.answers.append(answer)
            return nil
        }
        if let (batch, continuation) = first { continuation.resume(returning: answer(batch)) }
    }
}
