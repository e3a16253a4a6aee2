import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import TestSizes
import Testing

@testable import ReportOutbox

/// A model of an outbox: random lives, in which the app, the disk, the clock and the server behave randomly.
///
/// After each life every accepted report is delivered, still held, or reported as lost, once and for the right reason.
/// `OUTBOX_LIVES` sets the number of lives.
@Suite(.timeLimit(.minutes(10))) struct RandomLifeTests {
    private static let lives = testSize("OUTBOX_LIVES", usually: 300)
    private static let firstSeed = UInt64(testSize("OUTBOX_FIRST_LIFE", usually: 0, atLeast: 0))

    @Test func everyReportIsDeliveredHeldOrReportedAsLost() async {
        var losses: [String: Int] = [:]
        for seed in Self.firstSeed..<(Self.firstSeed + UInt64(Self.lives)) {
            let life = Self.live(seed)
            let faults = await life.faults()
            losses.merge(life.losses) { $0 + $1 }
            #expect(faults == [], "the life of seed \(seed)")
            if !faults.isEmpty, Self.lives == 1 { print(life.story) }
        }
        print("\(Self.lives) lives, \(losses.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
        // A run without faults proves nothing.
        guard Self.lives >= 100 else { return }
        for reason in [
            "expired", "too-many-attempts", "no-room", "by-handler", "purged", "damaged", "missing-file",
            "without-consent",
        ] {
            #expect(losses[reason] != nil, "no report was lost as \(reason)")
        }
    }

    /// Runs a life, and ends it.
    private static func live(_ seed: UInt64) -> Life {
        let random = RandomSource(seed: seed)
        let isSynchronized = random.chance(0.5)
        let life = Life(durability: isSynchronized ? .fsync : .process, seed: seed)
        settle(&life.settings, random, seed)
        // The server has a random source of its own: it is called by another thread, and must not change the app's behavior.
        let moods = RandomSource(seed: seed &+ 1_000_000)
        life.script.withLock { $0 = { _ in weather(moods) } }
        // One life in fifty has reports that are larger than a piece.
        let prefix = random.chance(0.02) ? "report-" : "s-"
        for _ in 0..<(1 + random.next() % 3) {
            trouble(life, random)
            if life.open(existing: { _ in decide(random) }) {
                for _ in 0..<(3 + random.next() % 16) { act(life, prefix + "\(random.next() % 12)", random) }
                life.compare()
            }
            life.end(powerIsLost: isSynchronized && random.chance(0.4))
        }
        return life
    }

    private static func settle(_ settings: inout OutboxSettings, _ random: RandomSource, _ seed: UInt64) {
        settings.maximumInFlight = 1 + Int(random.next() % 4)
        settings.maximumAttempts = 2 + Int(random.next() % 12)
        if random.chance(0.3) { settings.maximumAge = .seconds(Int(random.next() % 10_000)) }
        if random.chance(0.3) {
            settings.whenFull = random.chance(0.7) ? .dropOldest : .refuseNew
            settings.maximumCount = 1 + Int(random.next() % 6)
        }
        if random.chance(0.3) { settings.maximumDeadLetterCount = 1 + Int(random.next() % 3) }
        if random.chance(0.3) { settings.refusalsBeforePause = random.chance(0.5) ? .max : 1 }
        if random.chance(0.3) { settings.seal = XORSeal(key: UInt8(truncatingIfNeeded: seed)) }
        if random.chance(0.2) { settings.outcomes[.gone] = .drop }
    }

    private static func decide(_ random: RandomSource) -> ExistingReport.Decision {
        switch random.next() % 20 {
        case 0...3: .replace(upload)
        case 4: .drop
        default: .keep
        }
    }

    /// The faults of a disk in one process.
    private static func trouble(_ life: Life, _ random: RandomSource) {
        let operation = 1 + Int(random.next() % 150)
        let code = random.chance(0.5) ? EIO : ENOSPC
        life.disk.cut(nil)
        life.disk.weather(nil)
        life.disk.limit(.max)
        switch random.next() % 8 {
        case 0, 1: life.disk.cut(.death(at: operation))
        case 2: life.disk.cut(.failure(at: operation, code: code))
        case 3: life.disk.weather(.init(random, failing: random.unit() * 0.2, short: random.unit(), code: code))
        case 4: life.disk.limit(Int(random.next() % 2_000))
        default: break
        }
    }

    private static func act(_ life: Life, _ id: String, _ random: RandomSource) {
        switch random.next() % 17 {
        case 0...5: life.submit(id, ReportPriority.all[Int(random.next() % 3)])
        case 6: life.advance(Int(random.next() % 100))
        case 7: life.advance(3_000)
        case 8: life.outbox?.sendNow()
        case 9: life.outbox?.setNetwork(isAvailable: random.chance(0.6))
        case 10: life.purge(id)
        case 11, 12: life.retry(id)
        case 13: life.hurt(random)
        case 14: life.disk.cut(random.chance(0.5) ? .fullDisk : nil)
        case 15:
            let answers: [ReportConsent] = [.given, .given, .pending, .denied]
            life.setConsent(answers[Int(random.next() % 4)])
        default: life.setClock(off: clocks[Int(random.next() % UInt64(clocks.count))])
        }
        // Immediately, so that a life is reproducible.
        life.drain()
        if random.chance(0.3) { life.compare() }
    }

    private static let clocks: [Duration] = [0, 0, 3_600, -3_600, 3 * 86_400, 315_360_000, -315_360_000].map {
        .seconds($0)
    }

    /// Any status, and every possible failure of a connection.
    private static func weather(_ random: RandomSource) -> FakeServer.Answer {
        switch random.next() % 24 {
        case 0...9: .status(.ok)
        case 10...12: .status(.serviceUnavailable, random.chance(0.5) ? ["Retry-After": "60"] : [:])
        case 13...17:
            .status(HTTPStatus(Int(100 + random.next() % 500)), random.chance(0.1) ? ["Retry-After": "9"] : [:])
        case 18: .failure(.cannotConnect)
        case 19: .failure(.timedOut)
        case 20: .failure(random.chance(0.8) ? .cancelled : .invalidRequest)
        case 21: .unreadable
        case 22: .cut
        default: .silence
        }
    }
}

/// A seal that is easy to break, and that detects a wrong key or context.
struct XORSeal: ReportSeal {
    struct WrongKey: Error {}
    let key: UInt8

    func seal(_ bytes: Data, context: Data) -> Data {
        Data([tag(context)]) + Data(bytes.map { $0 ^ key })
    }

    func open(_ bytes: Data, context: Data) throws -> Data {
        guard bytes.first == tag(context) else { throw WrongKey() }
        return Data(bytes.dropFirst().map { $0 ^ key })
    }

    private func tag(_ context: Data) -> UInt8 { context.reduce(key) { ($0 &* 31) &+ $1 } }
}
