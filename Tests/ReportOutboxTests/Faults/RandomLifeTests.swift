import LoaderChain
import TestSizes
import Testing

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Lives in which chance decides what happens.
///
/// `OUTBOX_LIVES` says how many.
@Suite(.timeLimit(.minutes(10))) struct RandomLifeTests {
    private static let lives = testSize("OUTBOX_LIVES", usually: 60)

    @Test func nothingIsLostInAnyLife() async {
        for seed in 0..<UInt64(Self.lives) {
            let life = Self.live(seed)
            let faults = await life.faults()
            #expect(faults == [], "the life of seed \(seed)")
        }
    }

    /// Leads a life, and ends it.
    private static func live(_ seed: UInt64) -> Life {
        let random = RandomSource(seed: seed)
        let isSynchronized = random.chance(0.5)
        let life = Life(durability: isSynchronized ? .fsync : .process, seed: seed)
        life.settings.maximumInFlight = 1 + Int(random.next() % 4)
        life.settings.maximumAttempts = 3 + Int(random.next() % 20)
        if random.chance(0.3) { life.settings.seal = XORSeal(key: UInt8(truncatingIfNeeded: seed)) }
        // The server's moods have a chance of their own: it is asked by another thread, and must not change what the app does.
        let moods = RandomSource(seed: seed &+ 1_000_000)
        life.script.withLock { $0 = { _ in weather(moods) } }
        for _ in 0..<(1 + random.next() % 4) {
            cut(life, random)
            if life.open(existing: { _ in random.chance(0.2) ? .replace(upload) : .keep }) {
                for _ in 0..<(5 + random.next() % 20) { act(life, random) }
            }
            life.end(powerIsLost: isSynchronized && random.chance(0.4))
        }
        return life
    }

    private static func cut(_ life: Life, _ random: RandomSource) {
        let operation = 1 + Int(random.next() % 250)
        switch random.next() % 3 {
        case 0: life.disk.cut(.death(at: operation))
        case 1: life.disk.cut(.failure(at: operation, code: random.chance(0.5) ? EIO : ENOSPC))
        default: life.disk.cut(nil)
        }
    }

    private static func act(_ life: Life, _ random: RandomSource) {
        let id = "report-\(random.next() % 12)"
        switch random.next() % 12 {
        case 0...4: life.submit(id)
        case 5: life.advance(Int(random.next() % 100))
        case 6: life.advance(3_000)
        case 7: life.box?.tryNow()
        case 8: life.box?.networkIsAvailable(random.chance(0.6))
        case 9: life.purge(id)
        case 10: life.retry(id)
        default: life.setClock(off: [0, -10, 10][Int(random.next() % 3)])
        }
        if random.chance(0.8) { life.drain() }
    }

    private static func weather(_ random: RandomSource) -> FakeServer.Answer {
        switch random.next() % 10 {
        case 0...4: .status(.ok)
        case 5: .status(.serviceUnavailable, random.chance(0.5) ? ["Retry-After": "60"] : [:])
        case 6: .failure(.cannotConnect)
        case 7: .failure(.timedOut)
        case 8: .status(random.chance(0.3) ? .badRequest : .tooManyRequests)
        default: .failure(.cancelled)
        }
    }
}

/// A seal that is easy to break, and that notices another key or another context.
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
