import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResponseChangesTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()
    private let request = HTTPRequest(host: "a.test")

    private func changes(_ change: (inout ResponseChanges.Settings) -> Void = { _ in }) -> ResponseChanges {
        var settings = ResponseChanges.Settings()
        settings.jitter = 0
        change(&settings)
        return terminal.changes(of: request, settings: settings, timers: timers, random: RandomSource(seed: 1))
    }

    private func passDelay() async -> Duration {
        await timers.waitForPending(count: 1)
        let before = timers.now
        timers.advanceToNext()
        return before.duration(to: timers.now)
    }

    @Test func onlyChangesAreReturned() async throws {
        let seen = Task { [changes = changes()] in
            try await changes.prefix(2).collected().map { String(decoding: $0.body, as: UTF8.self) }
        }
        terminal.answer(await terminal.next(), headers: ["ETag": "\"1\""], body: "a")
        #expect(await passDelay() == .seconds(30))
        let second = await terminal.next()
        #expect(second.request.headers["If-None-Match"] == "\"1\"")
        terminal.answer(second, .notModified)
        #expect(await passDelay() == .seconds(30))
        terminal.answer(await terminal.next(), .serviceUnavailable, headers: ["Retry-After": "120"])
        let asked = await passDelay()
        #expect(asked >= .seconds(120) && asked <= .seconds(135))
        _ = terminal.refuse(await terminal.next(), .connectionLost)
        #expect(await passDelay() >= .seconds(30))
        terminal.answer(await terminal.next(), headers: ["ETag": "\"2\""], body: "b")
        #expect(try await seen.value == ["a", "b"])
    }

    @Test func validateLoaderDoesNotEndPolling() async throws {
        let changes = (Validate(.success) --> terminal).changes(
            of: request, timers: timers, random: RandomSource(seed: 1))
        let seen = Task { try await changes.prefix(2).collected().map { String(decoding: $0.body, as: UTF8.self) } }
        terminal.answer(await terminal.next(), headers: ["ETag": "\"1\""], body: "a")
        _ = await passDelay()
        terminal.answer(await terminal.next(), .notModified)
        _ = await passDelay()
        terminal.answer(await terminal.next(), .serviceUnavailable)
        _ = await passDelay()
        terminal.answer(await terminal.next(), headers: ["ETag": "\"2\""], body: "b")
        #expect(try await seen.value == ["a", "b"])
    }

    /// Its own check is of the versions, not of what says that there is none.
    @Test func checkOfTheRequestDoesNotEndPolling() async throws {
        var request = request
        request.responseCheck = .success.and(.contentTypes("application/json"))
        let changes = (Validate() --> terminal).changes(of: request, timers: timers, random: RandomSource(seed: 1))
        let seen = Task { try await changes.collected() }
        let json: HTTPHeaders = ["ETag": "\"1\"", "Content-Type": "application/json"]
        terminal.answer(await terminal.next(), headers: json, body: "1")
        _ = await passDelay()
        terminal.answer(await terminal.next(), .notModified)
        _ = await passDelay()
        terminal.answer(await terminal.next(), .serviceUnavailable)
        _ = await passDelay()
        terminal.answer(await terminal.next(), headers: ["ETag": "\"2\"", "Content-Type": "text/html"], body: "2")
        let error = await #expect(throws: HTTPError.self) { try await seen.value }
        #expect(error?.code == .invalidResponse)
    }

    @Test func unusableResponseOrTooManyFailuresThrow() async throws {
        let first = Task { [changes = changes()] in try await changes.collected() }
        terminal.answer(await terminal.next(), .notFound)
        await #expect(throws: HTTPError.self) { try await first.value }
        let second = Task { [changes = changes { $0.maximumFailures = 0 }] in try await changes.collected() }
        _ = terminal.refuse(await terminal.next(), .timedOut)
        await #expect(throws: HTTPError.self) { try await second.value }
    }

    @Test func onlyFailuresInARowAreCounted() async throws {
        let reader = Task { [changes = changes { $0.maximumFailures = 2 }] in try await changes.collected() }
        for _ in 0..<2 {
            _ = terminal.refuse(await terminal.next(), .connectionLost)
            _ = await passDelay()
            terminal.answer(await terminal.next(), .serviceUnavailable)
            _ = await passDelay()
            terminal.answer(await terminal.next(), headers: ["ETag": "\"1\""])
            _ = await passDelay()
        }
        for _ in 0..<2 {
            _ = terminal.refuse(await terminal.next(), .cannotConnect)
            _ = await passDelay()
        }
        terminal.answer(await terminal.next(), .badGateway)
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .invalidResponse && error?.response?.status == .badGateway)
        #expect(timers.pendingCount == 0)
    }

    @Test func settingsHaveDocumentedDefaults() {
        let changes = ResponseChanges.Settings()
        #expect(changes.interval == .seconds(30) && changes.jitter == 0.1 && changes.maximumDelay == .seconds(3_600))
        #expect(!changes.followsMaxAge && changes.maximumFailures == nil)
        let stream = EventStream.Settings()
        #expect(stream.reconnectionTime == .seconds(3) && stream.maximumDelay == .seconds(60))
        #expect(stream.idleTime == .seconds(90))
        #expect(stream.maximumEventBytes == 16 << 20)
        let upload = ResumableUploadDraft12.Settings()
        #expect(upload.maximumFailures == 5 && upload.firstDelay == .seconds(1))
        #expect(upload.maximumDelay == .seconds(30) && upload.maximumRetryAfter == .seconds(60))
    }

    @Test func requestIsNotSentWithoutNetwork() async throws {
        let network = ManualNetwork(isAvailable: false)
        let first = Task { [changes = changes { $0.network = network }] in try await changes.prefix(1).collected() }
        try await eventually("the network is watched") { network.watches == 1 }
        #expect(terminal.requests.isEmpty)
        network.isAvailable = true
        terminal.answer(await terminal.next(), body: "a")
        #expect(try await first.value.count == 1 && network.watches == 0)
    }

    @Test func cancelEndsWait() async throws {
        let reader = Task { [changes = changes()] in try await changes.collected() }
        terminal.answer(await terminal.next())
        await timers.waitForPending(count: 1)
        reader.cancel()
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled && timers.pendingCount == 0)
    }

    @Test func cancelEndsWaitForNetwork() async throws {
        let network = ManualNetwork(isAvailable: false)
        let reader = Task { [changes = changes { $0.network = network }] in try await changes.collected() }
        try await eventually("the network is watched") { network.watches == 1 }
        reader.cancel()
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled && terminal.requests.isEmpty)
    }

    @Test func cancelEndsLoad() async {
        let reader = Task { [changes = changes()] in try await changes.collected() }
        _ = await terminal.next()
        reader.cancel()
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled && terminal.requests.count == 1 && timers.pendingCount == 0)
    }

    @Test func cancelledReaderSendsNoRequest() async {
        let reader = Task { [changes = changes()] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await changes.collected()
        }
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled && terminal.requests.isEmpty)
    }
}
