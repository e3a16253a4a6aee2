import LoaderChain

/// How long a check took without the time that it waited for a place; it belongs to one request.
final class CheckTime: Sendable {
    private let time = Guarded<Duration?>(nil)

    var duration: Duration? {
        get { time.withLock(\.self) }
        set { time.withLock { $0 = newValue } }
    }
}

/// Where the time of a request is to be noted; nil, the default, for nowhere.
enum CheckTimeOption: HTTPRequestOption {
    static var defaultOptionValue: CheckTime? { nil }
}

/// Measures the requests that want to know how long they took; it stands below the queue.
final class CheckTimer: HTTPLoader, @unchecked Sendable {
    private let timers: any Timers

    init(timers: any Timers) { self.timers = timers }

    override func load(task: HTTPTask) {
        if let time = task.request[option: CheckTimeOption.self] {
            let start = timers.now
            task.addCompletionHandler { [timers] _ in time.duration = start.duration(to: timers.now) }
        }
        super.load(task: task)
    }
}
