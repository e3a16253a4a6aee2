import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import ReportOutbox

/// The state in random walks, compared with a model without heap, lanes and slots.
@Suite(.timeLimit(.minutes(10))) struct OutboxStateTests {
    /// A report in the model.
    private struct Report {
        var handle: OutboxHandle
        var id: ReportID
        var sequence: UInt64
        var size: Int64
        var destination: UInt32
        var due: TimerInstant
        var phase: OutboxEntry.Phase
        var priority: ReportPriority
        var attempts = 0
        var isHurried = false
    }

    private struct Model {
        var reports: [Report] = []
        var pauses: [UInt32: TimerInstant] = [:]
        var misses: [UInt32: Int] = [:]
        var refusals: [UInt32: (loss: ReportLoss, count: Int)] = [:]
        var probed: Set<UInt32> = []
        /// The number of consecutive attempts that a server answered.
        var answers: [UInt32: Int] = [:]
        let settings: OutboxSettings

        func next(_ now: TimerInstant) -> Report? {
            guard reports.count(where: { $0.phase == .sending }) < settings.maximumInFlight else { return nil }
            return reports.filter { report in
                report.phase == .waiting && report.due <= now && pauses[report.destination] ?? .distantPast <= now
                    && reports.count { $0.phase == .sending && $0.destination == report.destination }
                        < room(report.destination)
                    && (!probed.contains(report.destination) || isLongestDue(report))
            }.min { ($1.priority.rank, $0.due, $0.sequence) < ($0.priority.rank, $1.due, $1.sequence) }
        }

        /// The number of attempts that may start for a server.
        func room(_ destination: UInt32) -> Int {
            if misses[destination] ?? 0 > 0 || probed.contains(destination) { return 1 }
            return min(answers[destination, default: 0] + 1, settings.maximumInFlight - 1)
        }

        func isLongestDue(_ report: Report) -> Bool {
            !reports.contains {
                $0.phase == .waiting && $0.destination == report.destination
                    && ($0.due, $0.sequence) < (report.due, report.sequence)
            }
        }

        /// Counts a rejection, and returns whether the server is paused for it.
        mutating func refuse(_ loss: ReportLoss, _ destination: UInt32, _ now: TimerInstant) -> Bool {
            let last = refusals[destination]
            let count = last?.loss == loss ? (last?.count ?? 0) + 1 : 1
            refusals[destination] = (loss, count)
            guard probed.contains(destination) || count >= settings.refusalsBeforePause else { return false }
            if pauses[destination] ?? .distantPast <= now { probed.insert(destination) }
            return true
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func stateMatchesModelInRandomWalks(_ seed: UInt64) {
        let random = RandomSource(seed: seed)
        var settings = OutboxSettings()
        settings.random = RandomSource(seed: seed)
        settings.maximumCount = 20
        settings.maximumBytes = 5_000
        settings.maximumInFlight = 3
        settings.whenFull = seed % 2 == 0 ? .refuseNew : .dropOldest
        var state = OutboxState(settings)
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
                    model.reports[index].attempts += 1
                }
            case 6: settle(&state, &model, random, now)
            default:
                if random.chance(0.1) {
                    state.hurry(now: now)
                    model.pauses = [:]
                    model.misses = [:]
                    for index in model.reports.indices
                    where model.reports[index].phase == .waiting && model.reports[index].due > now {
                        model.reports[index].due = now
                        model.reports[index].isHurried = true
                    }
                }
            }
            #expect(state.count == model.reports.count, "seed \(seed), step \(step)")
            #expect(state.bytes == model.reports.reduce(0) { $0 + $1.size })
            #expect(state.inFlight == model.reports.count { $0.phase == .sending })
            #expect(state.entries.map(\.name.sequence) == model.reports.map(\.sequence))
        }
    }

    /// A state with reports for one server.
    private func state(_ count: Int, _ now: TimerInstant, _ change: (inout OutboxSettings) -> Void = { _ in })
        -> OutboxState
    {
        var settings = OutboxSettings()
        change(&settings)
        var state = OutboxState(settings)
        state.isRunning = true
        for number in 0..<count {
            guard let id = ReportID("\(number)"),
                case .admitted(let handle) = state.admit(
                    id, size: 1, submitted: 0, destination: 1, flags: [], now: now)
            else { continue }
            _ = state.accept(handle)
        }
        return state
    }

    @Test func hurriedReportIsInItsLaneOnce() throws {
        let now = TimerInstant(nanoseconds: 0)
        var state = state(3, now)
        for _ in 0..<100 {
            let next = state.startNext(now: now)
            let handle = try #require(next)
            let fate = state.judge(
                handle, .waitForConnection, asked: .zero, loss: .failed(.cannotConnect), now: now, wallNow: 0)
            state.finish(handle, try #require(fate))
            state.hurryAfterMisses(now: now)
        }
        let counts = state.lanes.map { $0.waiting[.normal].count }
        #expect(counts == [3])
    }

    @Test func failedDiskOperationIsRetriedAfterDelay() throws {
        let now = TimerInstant(nanoseconds: 0)
        let later = now.advanced(by: .seconds(1))
        var state = state(2, now) { $0.firstDelay = .zero }
        for isRead in [true, false] {
            let next = state.startNext(now: now)
            let handle = try #require(next)
            if isRead {
                state.finish(handle, .deadLetter(.damaged))
                state.stay(handle, .damaged, now: now)
            } else {
                let fate = state.judgeUnreadable(handle, now: now, wallNow: 0)
                state.finish(handle, try #require(fate))
            }
        }
        #expect(state.entries.map(\.due) == [later, later])
    }

    private func submit(_ state: inout OutboxState, _ model: inout Model, _ random: RandomSource, _ now: TimerInstant) {
        guard let id = ReportID("id-\(random.next() % 40)") else { return }
        let size = Int64(random.next() % 600)
        let destination = UInt32(random.next() % 3)
        let priority = ReportPriority.all[Int(random.next() % 3)]
        let admission = state.admit(
            id, size: size, submitted: 0, destination: destination, flags: .init(priority), now: now)
        let bytes = model.reports.reduce(0) { $0 + $1.size }
        let isFull = model.reports.count >= model.settings.maximumCount || bytes + size > model.settings.maximumBytes
        let above = model.reports.filter { $0.priority > priority }
        let isFullOfBetter =
            above.count >= model.settings.maximumCount
            || above.reduce(0) { $0 + $1.size } + size > model.settings.maximumBytes
        switch admission {
        case .joins: #expect(model.reports.contains { $0.id == id })
        case .isMoving: Issue.record("Nothing moves here")
        case .refused: #expect(model.settings.whenFull == .refuseNew ? isFull : isFullOfBetter)
        case .admitted(let handle):
            #expect(!model.reports.contains { $0.id == id })
            #expect(!isFull || model.settings.whenFull == .dropOldest)
            #expect(model.settings.whenFull == .refuseNew || !isFullOfBetter)
            model.reports.append(
                Report(
                    handle: handle, id: id, sequence: handle.sequence, size: size, destination: destination, due: now,
                    phase: .waiting, priority: priority))
            for leaving in state.accept(handle) {
                // The oldest waiting report with the lowest priority.
                let least = model.reports.filter { $0.phase == .waiting && $0.handle != handle }.map(\.priority).min()
                #expect(least.map { $0 <= priority } == true)
                let index = model.reports.firstIndex {
                    $0.phase == .waiting && $0.priority == least && $0.handle != handle
                }
                #expect(index.map { model.reports[$0].handle } == leaving)
                if let index { model.reports.remove(at: index) }
                _ = state.remove(leaving)
            }
        }
    }

    private func settle(_ state: inout OutboxState, _ model: inout Model, _ random: RandomSource, _ now: TimerInstant) {
        let sending = model.reports.indices.filter { model.reports[$0].phase == .sending }
        guard let index = sending.isEmpty ? nil : sending[Int(random.next() % UInt64(sending.count))] else { return }
        let report = model.reports[index]
        let verdicts: [ReportVerdict] = [.delivered, .retry, .waitForConnection, .interrupted, .deadLetter, .drop]
        let verdict = verdicts[Int(random.next() % 6)]
        let asked: Duration =
            verdict == .retry && random.chance(0.5) ? .milliseconds(random.next() % 9_000) : .zero
        let isAskedOfAll = random.chance(0.7)
        let losses: [ReportLoss] = [.purged, .refused(.badRequest), .refused(.notFound)]
        let loss = losses[min(Int(random.next() % 8), 2)]
        let judged = state.judge(
            report.handle, verdict, asked: asked, isAskedOfAll: isAskedOfAll, loss: loss, now: now, wallNow: 0)
        guard let fate = judged else {
            Issue.record("A report that is sent is not judged")
            return
        }
        state.finish(report.handle, fate)
        if verdict != .interrupted {
            let isAnswered = verdict == .delivered || loss != .purged
            model.answers[report.destination] = isAnswered ? model.answers[report.destination, default: 0] + 1 : 0
        }
        let isRefused = [.drop, .deadLetter].contains(verdict) && loss != .purged
        let isPausedForRefusals = isRefused && model.refuse(loss, report.destination, now)
        switch fate {
        case .delivered, .dropped, .deadLetter:
            #expect(![.retry, .waitForConnection, .interrupted].contains(verdict) && !isPausedForRefusals)
            if verdict == .delivered {
                model.refusals[report.destination] = nil
                model.probed.remove(report.destination)
            }
            _ = state.remove(report.handle)
            model.reports.remove(at: index)
            model.misses[report.destination] = 0
        case .waits(let name, let due):
            #expect(due >= now.advanced(by: asked))
            // An attempt that sent nothing does not count, nor does one that the app or the server rescheduled.
            let asksAll = asked > .zero && isAskedOfAll
            let isSent = verdict == .retry || isRefused
            let isFree = !isSent || verdict == .retry && (report.isHurried || asksAll)
            if isFree { model.reports[index].attempts -= 1 }
            #expect(Int(name.attempts) == model.reports[index].attempts)
            #expect(name.attempts == (state[report.handle]?.attempts ?? 0))
            model.reports[index].due = due
            model.reports[index].phase = .waiting
            model.reports[index].isHurried = false
            #expect([.retry, .waitForConnection, .interrupted].contains(verdict) || isPausedForRefusals)
            if verdict == .retry || isRefused { model.misses[report.destination] = 0 }
            if verdict == .waitForConnection { model.misses[report.destination, default: 0] += 1 }
            if verdict == .waitForConnection || asksAll || isPausedForRefusals {
                model.pauses[report.destination] = max(model.pauses[report.destination] ?? .distantPast, due)
            }
        }
    }
}
