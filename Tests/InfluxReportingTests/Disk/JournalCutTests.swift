import LoaderChain
import LoaderChainPlatformC
import Testing

@testable import InfluxReporting

/// A scripted run, interrupted at every one of its disk operations.
@Suite(.timeLimit(.minutes(10))) struct JournalCutTests {
    /// The script: delivered and failed batches, several launches, and a launch that was not shut down.
    private static func live(_ life: JournalLife) async throws {
        guard life.open() else { return }
        for _ in 0..<5 { life.write() }
        try await life.flushAndSettle()
        life.serverIsUp(false)
        for _ in 0..<20 { life.write() }
        try await life.settle()
        life.synchronize()
        for _ in 0..<3 { life.write() }
        try await life.end()
        // All held points are read again from the disk.
        guard life.open({ $0.maximumBytes = 1 }) else { return }
        for _ in 0..<20 { life.write() }
        life.serverIsUp(true)
        try await life.flushAndSettle()
        life.synchronize()
        for _ in 0..<9 { life.write() }
        try await life.settle()
    }

    private static func operations() async throws -> Int {
        let life = JournalLife()
        try await live(life)
        let operations = life.journal.operations
        try await life.end()
        return operations
    }

    @Test func runWithoutFaultsLosesNothing() async throws {
        let life = JournalLife()
        try await Self.live(life)
        try await life.end()
        #expect(try await life.faults() == [])
    }

    @Test func failedDiskOperationLosesNothing() async throws {
        for code in [EIO, ENOSPC] {
            for operation in 1...(try await Self.operations()) {
                let life = JournalLife()
                life.journal.cut(.failure(at: operation, code: code))
                try await Self.live(life)
                try await life.end()
                let faults = try await life.faults()
                #expect(faults == [], "operation \(operation) failed with \(code)")
            }
        }
    }

    @Test func processDeathAtAnyOperationLosesNothing() async throws {
        for operation in 1...(try await Self.operations()) {
            let life = JournalLife()
            life.journal.cut(.death(at: operation))
            try await Self.live(life)
            try await life.end()
            let faults = try await life.faults()
            #expect(faults == [], "the process ended in operation \(operation)")
        }
    }

    @Test func powerLossKeepsSynchronizedPoints() async throws {
        for operation in 1...(try await Self.operations()) {
            let life = JournalLife()
            life.journal.cut(.death(at: operation))
            try await Self.live(life)
            try await life.end(afterPowerLoss: RandomSource(seed: UInt64(operation)))
            let faults = try await life.faults()
            #expect(faults == [], "the power failed in operation \(operation)")
        }
    }

    /// A failed flush to the disk is repeated for all files.
    @Test func powerLossAfterFailureKeepsSynchronizedPoints() async throws {
        for operation in 1...(try await Self.operations() + 40) {
            let life = JournalLife()
            life.journal.cut(.failure(at: operation, code: EIO))
            try await Self.live(life)
            // Points in several files, which stay there.
            life.serverIsUp(false)
            for _ in 0..<20 { life.write() }
            try await life.settle()
            life.synchronize()
            try await life.end(afterPowerLoss: RandomSource(seed: UInt64(operation)))
            let faults = try await life.faults()
            #expect(faults == [], "operation \(operation) failed, and then the power")
        }
    }

    @Test(arguments: 1...15)
    func randomFaultsLoseNothing(seed: UInt64) async throws {
        let random = RandomSource(seed: seed)
        let life = JournalLife()
        life.open()
        for _ in 0..<150 {
            switch random.next() % 20 {
            case 0..<10: life.write()
            case 10..<12: try await life.settle()
            case 12: try await life.flushAndSettle()
            case 13: life.synchronize()
            case 14: life.serverIsUp(random.chance(0.5))
            case 15: life.journal.cut(.failure(at: Int(random.next() % 6) + 1, code: EIO))
            case 16: life.journal.cut(.death(at: Int(random.next() % 10) + 1))
            case 17: life.timers.advance(by: .milliseconds(Int(random.next() % 8_000)))
            default:
                guard random.chance(0.3) || life.journal.isDead else { continue }
                try await life.end()
                let memory = random.chance(0.5) ? 1 : 1 << 20
                life.open { $0.maximumBytes = memory }
            }
        }
        try await life.end()
        let faults = try await life.faults()
        #expect(faults == [], "seed \(seed)")
    }
}
