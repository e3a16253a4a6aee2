import LoaderChain
import LoaderChainTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ScriptedTerminalTests {
    @Test func taskIsHeldOnceAndAnsweredThroughAnyHandle() {
        let terminal = ScriptedTerminal(onCancel: .waits)
        let tasks = (0..<3).map { terminal.load(request: HTTPRequest(host: "a.test", path: "/\($0)")) { _ in } }
        // The chain has handles of its own.
        #expect(terminal.held[1] !== tasks[1] && terminal.held[1].id == tasks[1].id)
        terminal.load(task: terminal.held[0])
        #expect(terminal.held.map(\.id) == tasks.map(\.id))
        #expect(terminal.answer(tasks[1]))
        #expect(terminal.held.map(\.id) == [tasks[0].id, tasks[2].id])
        terminal.forget(tasks[2])
        terminal.refuse(tasks[0], .connectionLost)
        #expect(terminal.held.isEmpty && terminal.requests.count == 4)
    }

    @Test func cancelledWaitReturnsEndedTaskAndTakesNone() async {
        let terminal = ScriptedTerminal()
        let waiting = Task { await terminal.next() }
        waiting.cancel()
        #expect(await waiting.value.isCompleted)
        let task = terminal.load(request: HTTPRequest(host: "a.test", path: "/")) { _ in }
        let next = await terminal.next()
        #expect(next.id == task.id)
        terminal.answer(next)
    }

    @Test func requestThatCannotBeSentIsRefused() {
        let codes = Locked<[HTTPError.Code?]>([])
        for terminal in [ScriptedTerminal(), ScriptedTerminal { _ in .success() }] {
            terminal.load(request: HTTPRequest(path: "/")) { result in
                codes.withLock { $0.append(result.error?.code) }
            }
            #expect(terminal.requests.isEmpty && terminal.held.isEmpty)
        }
        #expect(codes.withLock { $0 } == [.invalidRequest, .invalidRequest])
    }
}
