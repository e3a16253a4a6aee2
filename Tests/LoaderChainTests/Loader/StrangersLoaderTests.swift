import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

/// Loaders that are written with the public interface alone: a composite, a queue, and one that sends a second attempt.
@Suite(.timeLimit(.minutes(10))) struct StrangersLoaderTests {
    private static let request = HTTPRequest(host: "a.test", path: "/users/17")

    @Test func compositeRejoinsChainAndKeepsContract() async {
        let terminal = ScriptedTerminal { .success(.ok, body: $0.headers["Trace"] ?? "none") }
        let chain = Detour(Stamp("1") --> Stamp("2")) --> Stamp("3") --> terminal
        #expect("\(chain)".hasPrefix("Detour(Stamp --> Stamp --> …) --> Stamp --> ScriptedTerminal"))
        #expect(await body(Self.request, chain) == "3")
        var marked = Self.request
        marked.headers["Detour"] = "yes"
        #expect(await body(marked, chain) == "123")
        let violations = await ContractCheck(patience: .seconds(120), tasks: 1_000) { _ in Detour(Stamp("1")) }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func branchRefusesCancelledTaskAndCompletesIt() {
        let terminal = ScriptedTerminal { _ in .success() }
        let chain = Detour(Stamp("1")) --> terminal
        let log = EventLog()
        var marked = Self.request
        marked.headers["Detour"] = "yes"
        let task = HTTPTask(request: marked) { log.note("\($0.error?.code.rawValue ?? "") \($0.error?.loader ?? "")") }
        task.cancel()
        chain.load(task: task)
        #expect(log.events == ["cancelled Stamp"] && terminal.requests.isEmpty)
        #expect(!chain.accept(task))
    }

    @Test func waitsInQueueAreMeasuredAndObserved() throws {
        let timers = ManualTimers()
        let waits = Waits()
        let sink = Sink()
        let gate = Turnstile()
        let terminal = ScriptedTerminal()
        let chain = MetricsTap(MetricRecorder(sink, timers: timers)) --> Watching(waits) --> gate --> terminal
        chain.load(request: Self.request) { _ in }
        timers.advance(by: .seconds(3))
        gate.letPass()
        timers.advance(by: .seconds(1))
        terminal.answer(try #require(terminal.held.first))
        #expect(sink.waiting == [.seconds(3)])
        #expect(waits.log.events == ["begins", "ended", "completed"])
        #expect(!HTTPTask(request: Self.request).beginWait())
    }

    @Test func customHedgeTakesFirstResult() throws {
        let timers = ManualTimers()
        let terminal = ScriptedTerminal()
        let chain = SecondAttempt(after: .seconds(1), timers) --> terminal
        let log = EventLog()
        let task = chain.load(request: Self.request) { log.note("\($0.response?.status.rawValue ?? 0)") }
        timers.advance(by: .seconds(1))
        try #require(terminal.held.count == 2)
        terminal.answer(terminal.held[1])
        #expect(log.events == ["200"] && terminal.held.isEmpty && task.isCompleted)
        #expect(Self.request.routeInMetrics == "/users/{id}")
    }

    private func body(_ request: HTTPRequest, _ chain: HTTPLoader) async -> String? {
        try? await String(decoding: chain.load(request).body, as: UTF8.self)
    }
}

/// Adds its mark to the trace of a request.
private final class Stamp: HTTPLoader, @unchecked Sendable {
    private let mark: String
    init(_ mark: String) { self.mark = mark }

    override func load(task: HTTPTask) {
        task.request.headers["Trace"] = (task.request.headers["Trace"] ?? "") + mark
        super.load(task: task)
    }
}

/// Leads marked requests through a branch.
private final class Detour: HTTPLoader, @unchecked Sendable {
    private let branch: HTTPLoader
    private let end = BranchEnd(of: "Detour")

    init(_ branch: HTTPLoader) {
        self.branch = branch --> end
        super.init()
    }

    override var branches: [HTTPLoader] { [branch] }
    override var details: String { branch.description(before: end) }
    override func didLink(to next: HTTPLoader) { end.nextLoader = next }

    override func load(task: HTTPTask) {
        guard task.request.headers.contains("Detour") else { return super.load(task: task) }
        if branch.accept(task) { branch.load(task: task) }
    }
}

/// Lets one task wait until a test lets it pass.
private final class Turnstile: HTTPLoader, @unchecked Sendable {
    private let lock = NSLock()
    private var waiting: HTTPTask?

    override func load(task: HTTPTask) {
        task.beginWait()
        lock.withLock { waiting = task }
    }

    func letPass() {
        guard let task = lock.withLock({ waiting }) else { return }
        lock.withLock { waiting = nil }
        task.endWait()
        super.load(task: task)
    }
}

/// Watches the waits of every task.
private final class Watching: HTTPLoader, @unchecked Sendable {
    private let waits: Waits
    init(_ waits: Waits) { self.waits = waits }

    override func load(task: HTTPTask) {
        task.addWaitObserver(waits)
        super.load(task: task)
    }
}

private final class Waits: HTTPTaskWaitObserver {
    let log = EventLog()
    func waitBegan() { log.note("begins") }
    func waitEnded() { log.note("ended") }
    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) { log.note("completed") }
}

private final class Sink: MetricSink, @unchecked Sendable {
    private let lock = NSLock()
    private var times: [Duration] = []
    var waiting: [Duration] { lock.withLock { times } }
    var isImmediate: Bool { true }

    func record(_ record: MetricRecord) {
        guard case .request(let metric) = record else { return }
        lock.withLock { times.append(metric.waiting) }
    }
}

/// Sends a second attempt when the first is slow; the first result wins.
private final class SecondAttempt: HTTPLoader, @unchecked Sendable {
    private let delay: Duration
    private let timers: any Timers

    init(after delay: Duration, _ timers: any Timers) {
        self.delay = delay
        self.timers = timers
    }

    override func load(task: HTTPTask) {
        attempt(for: task)
        let timer = timers.schedule(after: delay) {
            if !task.isCompleted, !task.isCancelled { self.attempt(for: task) }
        }
        task.addCompletionHandler { timer.cancel() }
    }

    private func attempt(for task: HTTPTask) {
        let attempt = task.makeAttempt()
        attempt.addCompletionHandler { task.complete($0) }
        super.load(task: attempt)
    }
}
