import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// A stream of events on a device that goes offline.
@Suite(.timeLimit(.minutes(10))) struct OfflineStreamTests {
    private let timers = ManualTimers()
    private let network = ManualNetwork(isAvailable: false)
    private let terminal = ScriptedTerminal()
    private let changes = EventLog()

    private func stream(host: String = "a.test") -> EventStream {
        var settings = EventStream.Settings()
        settings.network = network
        settings.idleTime = nil
        settings.onChange = { [changes] in changes.note("\($0)") }
        return EventStream(
            HTTPRequest(host: host), chain: terminal, settings: settings, timers: timers, random: RandomSource(seed: 1))
    }

    private func answer(_ text: String) async {
        let task = await terminal.next()
        terminal.answer(task, headers: ["Content-Type": "text/event-stream"], body: text)
    }

    @Test func streamConnectsWhenNetworkIsAvailable() async throws {
        let events = Task { [stream = stream()] in try await stream.prefix(2).collected().map(\.data) }
        await changes.waitForEvents(1)
        #expect(changes.events == ["offline"] && terminal.requests.isEmpty && timers.pendingCount == 0)
        network.isAvailable = true
        await answer("data:a\n\n")
        await timers.waitForPending(count: 1)
        // The network goes while the stream waits to connect again.
        network.isAvailable = false
        timers.advanceToNext()
        await changes.waitForEvents(5)
        #expect(terminal.requests.count == 1)
        network.isAvailable = true
        await answer("data:b\n\n")
        #expect(try await events.value == ["a", "b"])
        #expect(
            changes.events.prefix(7) == ["offline", "connecting", "open", "waiting", "offline", "connecting", "open"])
    }

    @Test func offlineStreamCanBeEndedOrCancelled() async throws {
        let stream = stream()
        let reader = Task { try await stream.collected() }
        await changes.waitForEvents(1)
        stream.end()
        #expect(try await reader.value.isEmpty)
        let cancelled = Task { [other = self.stream()] in try await other.collected() }
        await changes.waitForEvents(3)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await eventually("nothing is watched") { network.watches == 0 }
    }

    @Test func streamFromLocalhostDoesNotWaitForNetwork() async throws {
        let events = Task { [stream = stream(host: "localhost")] in try await stream.prefix(1).collected() }
        await answer("data:a\n\n")
        #expect(try await events.value.map(\.data) == ["a"])
    }
}
