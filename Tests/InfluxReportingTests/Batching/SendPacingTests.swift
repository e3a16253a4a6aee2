import LoaderChain
import Testing

@testable import InfluxReporting

@Suite(.timeLimit(.minutes(10))) struct SendPacingTests {
    private let start = TimerInstant(nanoseconds: 0)

    private func pacing() -> SendPacing {
        SendPacing(
            Pacing(first: .seconds(1), maximum: .seconds(120), maximumAsked: .seconds(3_600), leastShare: 0.5))
    }

    @Test func delaysDoubleUpToMaximumAndVaryByHalf() {
        var pacing = pacing()
        for expected in [1, 2, 4, 8, 16, 32, 64, 120, 120, 120] {
            var low = pacing
            low.failed(at: start, requested: nil, roll: 0)
            #expect(low.pausedUntil == start.advanced(by: .milliseconds(expected * 500)))
            pacing.failed(at: start, requested: nil, roll: 1)
            #expect(pacing.pausedUntil == start.advanced(by: .seconds(expected)))
        }
    }

    @Test func requestedDelayIsFollowedUpToMaximum() {
        var pacing = pacing()
        pacing.failed(at: start, requested: .seconds(300), roll: 0)
        #expect(pacing.pausedUntil == start.advanced(by: .seconds(300)))
        pacing.failed(at: start, requested: .seconds(1_000_000), roll: 0)
        let end = start.advanced(by: .seconds(3_600))
        #expect(pacing.pausedUntil == end)
        // Even if the server asks for no delay, the writer waits.
        pacing.failed(at: end, requested: .zero, roll: 0)
        #expect(pacing.pausedUntil == end.advanced(by: .seconds(2)))
        // The writer's own backoff does not extend a requested delay.
        for _ in 0..<20 {
            let now = pacing.pausedUntil ?? end
            pacing.failed(at: now, requested: .seconds(1), roll: 1)
            #expect(pacing.pausedUntil == now.advanced(by: .milliseconds(1_125)))
        }
    }

    @Test func hurryEndsBackoffButNotRequestedDelay() {
        var pacing = pacing()
        pacing.failed(at: start, requested: nil, roll: 1)
        pacing.hurry()
        #expect(!pacing.isPaused(at: start))
        pacing.failed(at: start, requested: .seconds(30), roll: 1)
        pacing.hurry()
        #expect(pacing.isPaused(at: start))
    }

    @Test func successResetsBackoff() {
        var pacing = pacing()
        for _ in 0..<10 { pacing.failed(at: start, requested: nil, roll: 1) }
        pacing.succeeded(at: start)
        #expect(pacing.failures == 0 && pacing.pausedUntil == nil)
        pacing.failed(at: start, requested: nil, roll: 1)
        #expect(pacing.pausedUntil == start.advanced(by: .seconds(1)))
    }

    @Test func onlyServerChangesRequestedDelay() {
        var pacing = pacing()
        let (during, end) = (start.advanced(by: .seconds(1)), start.advanced(by: .seconds(30)))
        pacing.failed(at: start, requested: .seconds(30), roll: 0)
        // Batches that were sent before.
        pacing.succeeded(at: during)
        pacing.failed(at: during, requested: nil, roll: 0)
        pacing.hurry()
        #expect(pacing.pausedUntil == end && pacing.failures == 2)
        pacing.failed(at: during, requested: .seconds(9), roll: 0)
        #expect(pacing.pausedUntil == end && pacing.isRequested)
        pacing.failed(at: during, requested: .seconds(39), roll: 0)
        let later = start.advanced(by: .seconds(40))
        #expect(pacing.pausedUntil == later)
        // A batch that was sent after the pause.
        var failed = pacing
        failed.failed(at: later, requested: nil, roll: 1)
        #expect((failed.pausedUntil ?? later) > later && !failed.isRequested)
        pacing.succeeded(at: later)
        #expect(pacing.failures == 0 && pacing.pausedUntil == nil)
    }

    @Test func manyFailuresDoNotOverflow() {
        var pacing = SendPacing(Pacing(first: .nanoseconds(1), maximum: .seconds(Int64.max)))
        for _ in 0..<500 { pacing.failed(at: start, requested: nil, roll: 0.5) }
        #expect(pacing.failures == 500)
    }
}
