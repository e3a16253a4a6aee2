import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// Resets that are given up while a task goes on forever.
@Suite(.timeLimit(.minutes(10))) struct GivenUpResetTests {
    @Test(arguments: Node.passingOn) func loaderForgetsGivenUpReset(node: Node) async throws {
        let terminal = StubbornTerminal()
        let chain = node.make(ManualTimers()) --> terminal
        let end = EventLog()
        chain.load(request: .sample) { _ in
            end.note("")
            terminal.log.note("")
        }
        // The task has come to the terminal, or to its end.
        await terminal.log.waitForEvents(1)
        for _ in 0..<3 {
            let group = reset(chain)
            try await eventually("\(node.name) has forgotten the reset") { group.object == nil }
        }
        terminal.answerAll()
        await end.waitForEvents(1)
        await chain.reset()
    }

    @Test func watchingHedgeForgetsGivenUpReset() async throws {
        let terminal = StubbornTerminal()
        let hedge = Hedge(Hedge.Settings(minimumNumberOfSamples: 1), timers: ManualTimers()) --> terminal
        let log = EventLog()
        // The first one shows how long requests take, and the second is watched.
        hedge.load(request: .sample) { _ in log.note("") }
        terminal.answerAll()
        hedge.load(request: .sample) { _ in log.note("") }
        #expect(hedge.details.hasPrefix("running 1"))
        for _ in 0..<3 {
            let group = reset(hedge)
            try await eventually("the hedge has forgotten the reset") { group.object == nil }
        }
        terminal.answerAll()
        await log.waitForEvents(2)
        #expect(hedge.details.hasPrefix("running 0"))
    }

    @Test func customLoaderForgetsGivenUpReset() async throws {
        let shelf = Shelf()
        let log = EventLog()
        shelf.load(request: .sample) { log.note($0.summary) }
        let kept = DispatchGroup()
        shelf.reset(with: kept)
        for _ in 0..<3 {
            let group = reset(shelf)
            try await eventually("the group is forgotten") { group.object == nil }
        }
        #expect(!isOver(kept))
        for task in shelf.tasks { task.fail(.timedOut) }
        #expect(log.events == ["cancelled"] && isOver(kept))
        // One that has ended by now.
        shelf.reset(with: kept)
        #expect(isOver(kept))
    }

    @Test func loaderThatNeverEndsItsResetIsReleased() async throws {
        final class Endless: HTTPLoader, @unchecked Sendable {
            override func reset(with group: DispatchGroup) { group.enter() }
        }
        weak var released: HTTPLoader?
        do {
            let loader = Endless()
            released = loader
            let timers = ManualTimers()
            async let unfinished: Void = loader.reset(within: .seconds(1), timers: timers)
            try await eventually("the alarm is set") { timers.pendingCount > 0 }
            timers.advance(by: .seconds(1))
            do {
                try await unfinished
                Issue.record("The reset has ended.")
            } catch {}
        }
        #expect(released == nil)
    }

    /// Whether a reset has ended; an asynchronous function may not wait for a group.
    private func isOver(_ group: DispatchGroup) -> Bool { group.wait(timeout: .now()) == .success }

    @Test func scriptedTerminalForgetsGivenUpReset() async throws {
        let terminal = ScriptedTerminal(onCancel: .waits)
        terminal.load(request: .sample) { _ in }
        let group = reset(terminal)
        try await eventually("the group is forgotten") { group.object == nil }
        terminal.end()
    }

    @Test func hangingCredentialStoreIsNotAskedByEveryReset() async throws {
        let store = HangingStore()
        let timers = ManualTimers()
        let auth = BearerAuth(hosts: .all, source: ClosureSource { _, _ in nil }, store: store, timers: timers)
        let chain = auth --> ScriptedTerminal { _ in .success() }
        for _ in 0..<3 {
            let log = EventLog()
            chain.reset(within: .seconds(1), timers: timers) { _ in log.note("") }
            await store.log.waitForEvents(1)
            timers.advance(by: .seconds(1))
            await log.waitForEvents(1)
        }
        let last = EventLog()
        chain.reset { last.note("") }
        try await eventually("the last reset has ended") {
            store.answer()
            return last.events.count == 1
        }
        // Once for the first, and once for the last, which begins after the store was asked.
        #expect(store.log.events.count == 2)
    }

    @Test func givenUpWalkReleasesUnreachedLoaders() throws {
        let walk = ResetWalk(whole: DispatchGroup())
        let reached = WeakReference(walkWithoutEnd(walk))
        #expect(reached.object == nil)
    }

    /// Lets a walk end at its first loader, and returns one that it had still to visit.
    private func walkWithoutEnd(_ walk: ResetWalk) -> HTTPLoader {
        let next = HTTPLoader()
        walk.go(on: [next, GivesUp(walk)])
        #expect(!walk.isFinished)
        return next
    }

    /// Gives up a reset of one loader, and returns its group.
    private func reset(_ loader: HTTPLoader) -> WeakReference {
        let group = DispatchGroup()
        loader.reset(with: group)
        loader.resetTimedOut(with: group)
        #expect(group.wait(timeout: .patient) == .success)
        return WeakReference(group)
    }
}

/// Gives up the walk that reaches it.
private final class GivesUp: HTTPLoader, @unchecked Sendable {
    private let walk: ResetWalk
    init(_ walk: ResetWalk) { self.walk = walk }

    override func reset(with group: DispatchGroup) { walk.giveUp() }
}

/// Keeps its tasks, as a terminal that is written with the public interface alone.
private final class Shelf: HTTPLoader, @unchecked Sendable {
    private let held = Locked<[HTTPTask]>([])
    private let waits = ResetWaits()
    var tasks: [HTTPTask] { held.withLock { $0 } }

    override func load(task: HTTPTask) { held.withLock { $0.append(task) } }

    override func reset(with group: DispatchGroup) {
        for task in tasks {
            waits.add(group, for: task)
            task.cancel()
        }
        super.reset(with: group)
    }

    override func resetTimedOut(with group: DispatchGroup) {
        waits.giveUp(group)
        super.resetTimedOut(with: group)
    }
}

/// A store that does not return from `forget` until the test lets it.
private final class HangingStore: CredentialStore {
    let log = EventLog()
    private let calls = Locked<[CheckedContinuation<Void, Never>]>([])

    func load() -> BearerToken? { nil }
    func save(_ token: BearerToken) {}

    func forget() async {
        await withCheckedContinuation { continuation in
            calls.withLock { $0.append(continuation) }
            log.note("")
        }
    }

    func answer() {
        for call in calls.withLock({ replace(&$0, with: []) }) { call.resume() }
    }
}

/// Refers to an object without keeping it.
private struct WeakReference {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}
