import LoaderChainTesting
import TestProcesses
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ChooseTests {
    private let terminal = ScriptedTerminal { _ in .success() }

    @Test func optionSelectsTheBranch() {
        let chain = Choose(by: Route.self, [.left: Tracing("left"), .right: Tracing("right")]) --> terminal
        for route in [Route.left, .right, .other] { load(route, with: chain) }
        #expect(terminal.requests.map { $0.headers["Trace"] } == ["left", "right", nil])
    }

    @Test func valueWithoutBranchTakesOtherwiseBranch() {
        let chain = Choose(by: Route.self, [.left: Tracing("left")], otherwise: Tracing("rest")) --> terminal
        for route in [Route.left, .right, .other] { load(route, with: chain) }
        #expect(terminal.requests.map { $0.headers["Trace"] } == ["left", "rest", "rest"])
    }

    @Test func branchesCanBeChainsSharedAndNested() {
        let shared = Tracing("1") --> Tracing("2")
        let inner = Choose(by: Route.self, [.other: Tracing("inner")])
        let chain =
            Choose(by: Route.self, [.left: shared, .right: shared, .other: Tracing("outer") --> inner]) --> terminal
        for route in [Route.left, .right, .other] { load(route, with: chain) }
        #expect(terminal.requests.map { $0.headers["Trace"] } == ["12", "12", "outerinner"])
    }

    @Test func branchesWithOwnTerminalsShareLoadersAbove() async {
        let images = ScriptedTerminal { _ in .success() }
        let chain =
            Tracing("shared")
            --> Choose(by: Route.self, [.left: Tracing("image") --> images, .right: Tracing("user")]) --> terminal
        for route in [Route.left, .right, .left] { load(route, with: chain) }
        #expect(images.requests.map { $0.headers["Trace"] } == ["sharedimage", "sharedimage"])
        #expect(terminal.requests.map { $0.headers["Trace"] } == ["shareduser"])
        #expect(
            "\(chain)".hasPrefix(
                "Tracing --> Choose(left: Tracing --> ScriptedTerminal(received 2, held 0), right: Tracing --> …, otherwise: …)"
            ))
        await chain.reset()
    }

    @Test func optionalValueSelectsBranch() {
        let chain = Choose(by: OptionalRoute.self, [.left: Tracing("left"), nil: Tracing("none")]) --> terminal
        chain.load(request: .sample) { _ in }
        var request = HTTPRequest.sample
        request[option: OptionalRoute.self] = .left
        chain.load(request: request) { _ in }
        #expect(terminal.requests.map { $0.headers["Trace"] } == ["none", "left"])
        #expect("\(chain)".hasPrefix("Choose(left: Tracing --> …, none: Tracing --> …, otherwise: …) --> "))
    }

    @Test func descriptionListsBranches() {
        let chain =
            Choose(by: Route.self, [.right: NamedLoader("C"), .left: NamedLoader("A") --> NamedLoader("B")])
            --> NamedLoader("D")
        #expect("\(chain)" == "Choose(left: A --> B --> …, right: C --> …, otherwise: …) --> D")
        let closed = Choose(by: Route.self, [:], otherwise: NamedLoader("A"))
        #expect("\(closed)" == "Choose(otherwise: A --> …)")
    }

    @Test func resetVisitsEveryLoaderOnce() async {
        let left = ResetCounter(), right = ResetCounter(), tail = ResetCounter()
        let chain = Choose(by: Route.self, [.left: left, .right: right, .other: left]) --> tail
        await chain.reset()
        #expect([left.count, right.count, tail.count] == [1, 1, 1])
    }

    @Test func missingNextLoaderIsReportedInError() {
        let chain = Choose(by: Route.self, [.left: Tracing("left")])
        let log = EventLog()
        for route in [Route.left, .right] {
            var request = HTTPRequest.sample
            request[option: Route.self] = route
            chain.load(request: request) { log.note($0.error?.reason ?? "none") }
        }
        #expect(
            Set(log.events) == ["Choose is last in its chain and not a terminal; link one, such as URLSessionLoader()"])
    }

    @Test func chainAndBranchAreReleased() {
        weak var gone: HTTPLoader?
        weak var branch: HTTPLoader?
        do {
            let left = Tracing("left")
            let chain = Choose(by: Route.self, [.left: left]) --> terminal
            load(.left, with: chain)
            (gone, branch) = (chain, left)
        }
        #expect(gone == nil)
        #expect(branch == nil)
    }

    @Test func taskInBranchOutlivesTheComposite() {
        let waiting = OneAtATime()
        let held = ScriptedTerminal()
        let log = EventLog()
        do {
            let chain = Choose(by: Route.self, [.left: waiting]) --> held
            for _ in 0..<2 { load(.left, with: chain) { log.note($0.summary) } }
        }
        held.answerAll()
        #expect(log.events == ["response", "response"])
    }

    #if os(Linux) || os(macOS)
        @Test func linkingCompositeToItsBranchTraps() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                trapWithoutBacktrace()
                let branch = NamedLoader("Branch")
                Choose(by: Route.self, [.left: branch]) --> branch
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Choose cannot be linked to Branch, which leads back to it"))
        }
    #endif

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { _ in
            Choose(by: Route.self, [.left: HTTPLoader(), .other: ClosureLoader { try await $1($0) }])
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func keepsTheContractWithoutMatchingBranch() async {
        let violations = await ContractCheck(patience: .patient) { _ in Choose(by: Route.self, [.left: HTTPLoader()]) }
            .run()
        #expect(violations.isEmpty, "\(violations)")
    }

    private func load(
        _ route: Route, with chain: HTTPLoader, completion: @escaping @Sendable (HTTPResult) -> Void = { _ in }
    ) {
        var request = HTTPRequest.sample
        request[option: Route.self] = route
        chain.load(request: request, completion: completion)
    }
}

private enum Route: HTTPRequestOption {
    static var defaultOptionValue: Route { .other }
    case left, right, other
}

private enum OptionalRoute: HTTPRequestOption {
    static var defaultOptionValue: Route? { nil }
}

/// Writes its mark into each request.
private final class Tracing: HTTPLoader, @unchecked Sendable {
    private let mark: String
    init(_ mark: String) { self.mark = mark }
    override func load(task: HTTPTask) {
        task.request.headers["Trace"] = (task.request.headers["Trace"] ?? "") + mark
        super.load(task: task)
    }
}
