import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

/// A loader written against the interface that readers of the throttling article know.
private final class SmallThrottle: HTTPLoader, @unchecked Sendable {
    var maximumNumberOfRequests = UInt.max
    private var executing = [UUID: HTTPTask]()
    private var pending = [HTTPTask]()

    override func load(task: HTTPTask) {
        if task.request.smallThrottle == .never {
            super.load(task: task)
        } else if UInt(executing.count) < maximumNumberOfRequests {
            start(task)
        } else {
            pending.append(task)
        }
    }

    private func start(_ task: HTTPTask) {
        let id = task.id
        executing[id] = task
        task.addCompletionHandler {
            self.executing[id] = nil
            while UInt(self.executing.count) < self.maximumNumberOfRequests, !self.pending.isEmpty {
                self.start(self.pending.removeFirst())
            }
        }
        super.load(task: task)
    }
}

private enum SmallThrottleOption: HTTPRequestOption {
    static var defaultOptionValue: SmallThrottleOption { .always }
    case always, never
}

extension HTTPRequest {
    fileprivate var smallThrottle: SmallThrottleOption {
        get { self[option: SmallThrottleOption.self] }
        set { self[option: SmallThrottleOption.self] = newValue }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ArticleThrottleTests {
    @Test func throttleLimitsRunningTasksExceptUnlimited() {
        let throttle = SmallThrottle()
        throttle.maximumNumberOfRequests = 2
        let terminal = ScriptedTerminal()
        let chain = throttle --> terminal
        let log = EventLog()
        for number in 1...4 {
            chain.load(request: HTTPRequest(host: "example.com", path: "/\(number)")) { _ in log.note("\(number)") }
        }
        var unlimited = HTTPRequest(host: "example.com", path: "/5")
        unlimited.smallThrottle = .never
        chain.load(request: unlimited) { _ in log.note("5") }
        #expect(terminal.held.map(\.request.path) == ["/1", "/2", "/5"])
        terminal.answerAll()
        #expect(log.events == ["1", "2", "5", "3", "4"])
    }
}
