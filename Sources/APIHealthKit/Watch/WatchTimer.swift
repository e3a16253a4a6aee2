import LoaderChain

/// The duration of one check without the time that it waited in the queue.
final class CheckTime: Sendable {
    private let time = Locked<Duration?>(nil)

    var duration: Duration? {
        get { time.withLock(\.self) }
        set { time.withLock { $0 = newValue } }
    }
}

/// Where to store the duration of a request; nil by default.
enum CheckTimeOption: HTTPRequestOption {
    static var defaultOptionValue: CheckTime? { nil }
}

/// Measures requests that have a ``CheckTimeOption``; it stands below the queue.
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
