import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformC
import TestSizes
import Testing

@testable import ReportOutbox

/// A scripted life, ended at each of its disk operations.
@Suite(.timeLimit(.minutes(10))) struct CutTests {
    /// The events in the life of an outbox: small and large reports, a rejected one, one that has to wait, one that joins,
    /// a replaced request, a purged report, and a returned dead letter.
    private static func live(_ life: Life) {
        guard life.open() else { return }
        life.script.withLock {
            $0 = { key in
                switch key {
                case "refused": .status(.badRequest)
                case "waits": .status(.serviceUnavailable, ["Retry-After": "100"])
                case "unreachable": .failure(.connectionLost)
                default: .status(.ok)
                }
            }
        }
        for id in ["one", "refused", "waits", "large-3", "unreachable"] {
            life.submit(id)
            life.drain()
        }
        life.outbox?.setNetwork(isAvailable: false)
        life.submit("waits")
        life.submit("purged")
        life.submit("later")
        life.drain()
        life.purge("purged")
        life.outbox?.setNetwork(isAvailable: true)
        life.advance(30)
        life.end()
        guard life.open(existing: { $0.id.rawValue == "waits" ? .replace(upload) : .keep }) else { return }
        life.retry("refused")
        life.submit("again")
        life.advance(50)
    }

    private static func life(_ durability: OutboxSettings.Durability, cut: MemoryDirectory.Cut?) -> Life {
        let life = Life(durability: durability)
        life.disk.cut(cut)
        live(life)
        return life
    }

    private static func operations(_ durability: OutboxSettings.Durability) -> Int {
        let life = life(durability, cut: nil)
        // The life retains its outbox, and the outbox the life.
        defer { life.end() }
        return life.disk.operations
    }

    @Test(arguments: [OutboxSettings.Durability.process, .fsync])
    func scriptedLifeWithoutCutLosesNoReport(_ durability: OutboxSettings.Durability) async {
        let life = Self.life(durability, cut: nil)
        life.end()
        #expect(await life.faults() == [])
        #expect(life.disk.names.filter { !$0.contains("aside/") } == [])
    }

    @Test(arguments: [OutboxSettings.Durability.process, .fsync])
    func failedDiskOperationLosesNoReport(_ durability: OutboxSettings.Durability) async {
        for code in [EIO, ENOSPC] {
            for operation in testSample(1...Self.operations(durability)) {
                let life = Self.life(durability, cut: .failure(at: operation, code: code))
                life.end()
                let faults = await life.faults()
                #expect(faults == [], "operation \(operation) failed with \(code)")
            }
        }
    }

    @Test(arguments: [OutboxSettings.Durability.process, .fsync])
    func processDeathAtAnyDiskOperationLosesNoReport(_ durability: OutboxSettings.Durability) async {
        for operation in 1...Self.operations(durability) {
            let life = Self.life(durability, cut: .death(at: operation))
            life.end()
            let faults = await life.faults()
            #expect(faults == [], "the process ended in operation \(operation)")
        }
    }

    @Test func powerLossWithFsyncLosesNoReport() async {
        for operation in 1...Self.operations(.fsync) {
            let life = Self.life(.fsync, cut: .death(at: operation))
            life.end(powerIsLost: true)
            let faults = await life.faults()
            #expect(faults == [], "the power failed in operation \(operation)")
        }
    }
}
