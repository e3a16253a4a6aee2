import LoaderChain
import Testing

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The state, walked at random beside a model that knows no heap, no lanes and no slots.
@Suite(.timeLimit(.minutes(10))) struct BoxStateTests {
    /// A report, as simply as one can be remembered.
    private struct Report {
        var handle: BoxHandle
        var id: ReportID
        var sequence: UInt64
        var size: Int64
        var destination: UInt32
        var due: TimerInstant
        var phase: BoxEntry.Phase
    }

    private struct Model {
        var reports: [Report] = []
        var pauses: [UInt32: TimerInstant] = [:]
        var misses: [UInt32: Int] = [:]
        let settings: OutboxSettings

        func next(_ now: TimerInstant) -> Report? {
            guard reports.count(where: { $0.phase == .sending }) < settings.maximumInFlight else { return nil }
            return reports.filter { report in
                report.phase == .waiting && report.due <= now && pauses[report.destination] ?? .distantPast <= now
                    && (misses[report.destination] ?? 0 == 0
                        || !reports.contains { $0.phase == .sending && $0.destination == report.destination })
            }.min { ($0.due, $0.sequence) < ($1.due, $1.sequence) }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func itDecidesAsTheModelDoes(_ seed: UInt64) {
        let random = RandomSource(seed: seed)
        var settings = OutboxSettings()
        settings.random = RandomSource(seed: seed)
        settings.maximumCount = 20
        settings.maximumBytes = 5_000
        settings.maximumInFlight = 3
        settings.whenFull = seed % 2 == 0 ? .refuseNew : .dropOldest
        var state = BoxState(settings)
        state.isRunning = true
        var model = Model(settings: settings)
        var now = TimerInstant(nanoseconds: 0)

        for step in 0..<1_500 {
            now = now.advanced(by: .milliseconds(random.next() % 2_000))
            switch random.next() % 8 {
            case 0...2: submit(&state, &model, random, now)
            case 3...5:
                let expected = model.next(now)
                let found = state.startNext(now: now)
                #expect(found == expected?.handle, "seed \(seed), step \(step)")
                if let found, let index = model.reports.firstIndex(where: { $0.handle == found }) {
                    model.reports[index].phase = .sending
                }
            case 6: settle(&state, &model, random, now)
            default:
                if random.chance(0.1) {
                    state.hurry(now: now)
                    model.pauses = [:]
                    model.misses = [:]
                    for index in model.reports.indices where model.reports[index].phase == .waiting {
                        model.reports[index].due = min(model.reports[index].due, now)
                    }
                }
            }
            #expect(state.count == model.reports.count, "seed \(seed), step \(step)")
            #expect(state.bytes == model.reports.reduce(0) { $0 + $1.size })
            #expect(state.inFlight == model.reports.count { $0.phase == .sending })
            #expect(state.entries.map(\.name.sequence) == model.reports.map(\.sequence))
        }
    }

    private func submit(_ state: inout BoxState, _ model: inout Model, _ random: RandomSource, _ now: TimerInstant) {
        guard let id = ReportID("id-\(random.next() % 40)") else { return }
        let size = Int64(random.next() % 600)
        let destination = UInt32(random.next() % 3)
        let admission = state.admit(id, size: size, submitted: 0, destination: destination, flags: [], now: now)
        let bytes = model.reports.reduce(0) { $0 + $1.size }
        let isFull = model.reports.count >= model.settings.maximumCount || bytes + size > model.settings.maximumBytes
        switch admission {
        case .joins: #expect(model.reports.contains { $0.id == id })
        case .isMoving: Issue.record("Nothing moves here")
        case .refused: #expect(isFull && model.settings.whenFull == .refuseNew)
        case .admitted(let handle):
            #expect(!model.reports.contains { $0.id == id })
            #expect(!isFull || model.settings.whenFull == .dropOldest)
            model.reports.append(
                Report(
                    handle: handle, id: id, sequence: handle.sequence, size: size, destination: destination, due: now,
                    phase: .waiting))
            for leaving in state.accept(handle) {
                // The oldest of those that wait.
                let index = model.reports.firstIndex { $0.phase == .waiting }
                #expect(index.map { model.reports[$0].handle } == leaving)
                if let index { model.reports.remove(at: index) }
                _ = state.remove(leaving)
            }
        }
    }

    private func settle(_ state: inout BoxState, _ model: inout Model, _ random: RandomSource, _ now: TimerInstant) {
        let sending = model.reports.indices.filter { model.reports[$0].phase == .sending }
        guard let index = sending.isEmpty ? nil : sending[Int(random.next() % UInt64(sending.count))] else { return }
        let report = model.reports[index]
        let verdicts: [ReportVerdict] = [.delivered, .retry, .waitForConnection, .interrupted, .setAside, .drop]
        let verdict = verdicts[Int(random.next() % 6)]
        let asked: Duration =
            verdict == .retry && random.chance(0.5) ? .milliseconds(random.next() % 9_000) : .zero
        guard let fate = state.judge(report.handle, verdict, asked: asked, loss: .purged, now: now, wallNow: 0) else {
            Issue.record("A report that is sent is not judged")
            return
        }
        state.finish(report.handle, fate)
        switch fate {
        case .delivered, .dropped, .setAside:
            #expect(![.retry, .waitForConnection, .interrupted].contains(verdict))
            _ = state.remove(report.handle)
            model.reports.remove(at: index)
            model.misses[report.destination] = 0
        case .waits(let name, let due):
            #expect(due >= now.advanced(by: asked))
            #expect(name.attempts == (state[report.handle]?.attempts ?? 0))
            model.reports[index].due = due
            model.reports[index].phase = .waiting
            if verdict == .retry { model.misses[report.destination] = 0 }
            if verdict == .waitForConnection { model.misses[report.destination, default: 0] += 1 }
            if verdict == .waitForConnection || asked > .zero {
                model.pauses[report.destination] = max(model.pauses[report.destination] ?? .distantPast, due)
            }
        }
    }
}
