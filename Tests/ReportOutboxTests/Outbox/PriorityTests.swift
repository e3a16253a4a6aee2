import DurableFilesTesting
import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// Crashes are sent before warnings.
@Suite(.timeLimit(.minutes(10))) struct PriorityTests {
    private static func submit(_ test: TestOutbox, _ id: String, _ count: Int = 10, _ priority: ReportPriority) throws {
        defer { test.outbox.drain() }
        try test.outbox.submit(bytes(count), identifier: id, request: upload, priority: priority)
    }

    private static func submitAll(_ test: TestOutbox) throws {
        for (id, priority) in [("warning", .low), ("log", .normal), ("crash", .high)] as [(String, ReportPriority)] {
            try submit(test, id + "-1", priority)
            try submit(test, id + "-2", priority)
        }
    }

    private static func submit(_ test: TestOutbox, _ id: String, _ priority: ReportPriority) throws {
        try submit(test, id, 10, priority)
    }

    private static let inOrder = ["crash-1", "crash-2", "log-1", "log-2", "warning-1", "warning-2"]

    @Test func higherPriorityIsSentFirst() throws {
        let test = try TestOutbox(sends: false) { $0.maximumInFlight = 1 }
        try Self.submitAll(test)
        #expect(test.outbox.reports.map(\.priority) == [.low, .low, .normal, .normal, .high, .high])
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.server.keys == Self.inOrder)
    }

    @Test func priorityIsKeptAcrossLaunches() throws {
        let disk = MemoryDirectory()
        do {
            let test = try TestOutbox(disk: disk, sends: false)
            try Self.submitAll(test)
            test.outbox.abandon()
            disk.kill()
        }
        disk.revive()
        let test = try TestOutbox(disk: disk) { $0.maximumInFlight = 1 }
        #expect(test.server.keys == Self.inOrder)
    }

    @Test func failedHighPriorityReportDoesNotBlockOthers() throws {
        let server = FakeServer { request, _ in
            request.headers["Idempotency-Key"] == "crash" ? .status(.serviceUnavailable) : .status(.ok)
        }
        let test = try TestOutbox(server, sends: false) { $0.maximumInFlight = 1 }
        try Self.submit(test, "warning", .low)
        try Self.submit(test, "crash", .high)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.server.keys == ["crash", "warning"])
        #expect(test.outbox.reports.map(\.id.rawValue) == ["crash"])
    }

    @Test func lowestPriorityIsDroppedFirstWhenFull() throws {
        let test = try TestOutbox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 3
            $0.maximumBytes = 100
        }
        try Self.submit(test, "crash", .high)
        try Self.submit(test, "log", .normal)
        try Self.submit(test, "warning", .low)
        try Self.submit(test, "log-2", .normal)
        #expect(test.outbox.reports.map(\.id.rawValue) == ["crash", "log", "log-2"])
        try Self.submit(test, "log-3", .normal)
        #expect(test.outbox.reports.map(\.id.rawValue) == ["crash", "log-2", "log-3"])
        try Self.submit(test, "crash-2", 85, .high)
        #expect(test.outbox.reports.map(\.id.rawValue) == ["crash", "crash-2"])
        #expect(test.outbox.counters.dropped == ["no-room": 4])
    }

    @Test func higherPriorityIsNotDroppedForLowerPriority() throws {
        let test = try TestOutbox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 2
            $0.maximumBytes = 100
        }
        try Self.submit(test, "crash", 60, .high)
        #expect(throws: OutboxError.self) { try Self.submit(test, "log", 41, .normal) }
        try Self.submit(test, "crash-2", .high)
        let error = #expect(throws: OutboxError.self) { try Self.submit(test, "warning", .low) }
        #expect(error?.code == .full)
        try Self.submit(test, "crash-3", .high)
        #expect(test.outbox.reports.map(\.id.rawValue) == ["crash-2", "crash-3"])
    }
}
