import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import TestSizes
import Testing

@testable import ReportOutbox

/// In any order of events, and whenever the app dies, the server accepts each report once, except for answers that were
/// lost, and no report is lost.
///
/// `UPLOAD_STEPS` sets the length of every short life, and `UPLOAD_LIVES` the number of random ones.
@Suite(.timeLimit(.minutes(20)))
struct UploadModelTests {
    /// The possible events, in every order.
    private enum Step: CaseIterable {
        case list, arrive, answer, deliver, finishEvents, relaunch, reopen, wait

        /// Whether the event would change anything.
        func matters(to life: UploadLife) -> Bool {
            switch self {
            case .list: life.daemon.isAsked
            case .arrive: life.daemon.isSending
            case .answer: life.daemon.isAnswering
            case .deliver: life.daemon.hasEvents
            case .finishEvents, .relaunch, .reopen, .wait: true
            }
        }

        func happen(to life: UploadLife) {
            switch self {
            case .list: life.daemon.list()
            case .arrive: life.daemon.arrive()
            case .answer: life.daemon.answer()
            case .deliver: life.daemon.deliver()
            case .finishEvents: life.daemon.finishEvents()
            case .relaunch:
                life.kill()
                life.launch()
            case .reopen:
                life.close()
                life.open()
            // Longer than the timeout of an attempt, and than the grace period for missing uploads.
            case .wait: life.advance(700)
            }
            life.drain()
        }
    }

    private static let length = testSize("UPLOAD_STEPS", usually: 4, atLeast: 4)

    @Test func everyShortLifeHasNoFaults() {
        var lives: [[Step]] = [[]]
        var (led, wrong) = (0, 0)
        while let steps = lives.popLast(), wrong < 5 {
            let life = UploadLife()
            life.launch()
            life.submit("a")
            for step in steps { step.happen(to: life) }
            // A step that changes nothing makes a life equal to the life without it.
            if steps.count < Self.length {
                lives += Step.allCases.filter { $0.matters(to: life) }.map { steps + [$0] }
            }
            let faults = life.faults()
            led += 1
            if !faults.isEmpty { wrong += 1 }
            #expect(faults == [], "after \(steps)")
        }
        // At every moment, four steps change something.
        #expect(led > Int(pow(4, Double(Self.length))))
    }

    /// The shortest life in which everything succeeds, ended at each of its disk operations.
    @Test func deathAtAnyOperationCausesNoFaults() {
        func live(_ cut: MemoryDirectory.Cut?) -> UploadLife {
            let life = UploadLife()
            life.disk.cut(cut)
            guard life.launch() else { return life }
            life.submit("a")
            for step in [Step.list, .relaunch, .arrive, .list, .answer, .deliver] { step.happen(to: life) }
            return life
        }
        let whole = live(nil)
        let operations = whole.disk.operations
        #expect(operations > 20)
        #expect(whole.faults() == [])
        for operation in 1...operations {
            #expect(live(.death(at: operation)).faults() == [], "the app died in operation \(operation)")
        }
    }

    private static let lives = testSize("UPLOAD_LIVES", usually: 300)

    @Test func randomLivesHaveNoFaults() {
        for seed in 0..<UInt64(Self.lives) {
            let random = RandomSource(seed: seed)
            let fails = random.chance(0.3)
            let life = UploadLife(seed: seed)
            life.settings.maximumInFlight = 1 + Int(random.next() % 4)
            life.launch()
            for _ in 0..<(10 + random.next() % 60) { act(life, random, fails: fails) }
            // A report may be sent again if its outcome could not be saved.
            let faults = life.faults(allowsRepetition: fails)
            #expect(faults == [], "the life of seed \(seed)")
            if !faults.isEmpty { return }
        }
    }

    private func act(_ life: UploadLife, _ random: RandomSource, fails: Bool) {
        switch random.next() % 16 {
        case 0, 1: life.submit("report-\(random.next())")
        case 2: life.daemon.list()
        case 3, 4: life.daemon.arrive()
        case 5: life.daemon.arrive(.serviceUnavailable)
        case 6, 7: life.daemon.answer(random.chance(0.3) ? ["Retry-After": "100"] : [:])
        case 8: life.daemon.cut()
        case 9, 10: life.daemon.deliver()
        case 11: life.daemon.finishEvents()
        case 12:
            life.kill()
            let operation = 1 + Int(random.next() % 60)
            let cut: [MemoryDirectory.Cut?] = [
                nil, .death(at: operation), fails ? .failure(at: operation, code: EIO) : nil,
            ]
            life.disk.cut(cut[Int(random.next() % 3)])
            if life.launch(opensOutbox: random.chance(0.8)), life.outbox == nil, random.chance(0.5) {
                life.daemon.list()
                life.daemon.finishEvents()
            }
        case 13:
            life.close()
            life.open()
        case 14: life.outbox?.sendNow()
        default: life.advance([1, 50, 700, 4_000][Int(random.next() % 4)])
        }
        life.drain()
        if life.disk.isDead {
            life.kill()
            life.launch()
        }
    }
}
