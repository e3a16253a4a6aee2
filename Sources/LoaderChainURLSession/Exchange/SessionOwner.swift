import Dispatch
import Foundation
import LoaderChain
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Owns the session of a loader, and the exchanges in flight on it.
///
/// Exchanges retain their owner, and the owner retains them while they are in flight. So it outlives its loader until the
/// last of them has ended, redirects included, and no task is ever made on a session that was invalidated.
final class SessionOwner: Sendable {
    let settings: SessionSettings
    let timers: any Timers
    let session: URLSession
    /// The queue for calls that may wait for the session, which would deadlock if made from its own callbacks.
    let control = DispatchQueue(label: "LoaderChain.URLSessionLoader.control")

    private let delegate = SessionDelegate()
    private let isShared: Bool
    private let inFlight = Locked(InFlightState<Exchange, DispatchGroup>())
    private let numbers = Atomic<UInt64>(0)
    private let deadlines: DeadlineWatch

    init(_ settings: SessionSettings, sharing shared: URLSession? = nil, timers: any Timers) {
        self.settings = settings
        self.timers = timers
        deadlines = DeadlineWatch(timers) { [inFlight] now in
            inFlight.withLock { $0.all }.compactMap { $0.deadline(after: now) }.min()
        }
        #if canImport(FoundationNetworking)
            isShared = false
            session = URLSession(
                configuration: settings.configuration, delegate: delegate, delegateQueue: ImmediateQueue())
        #else
            isShared = shared != nil
            session =
                shared ?? URLSession(configuration: settings.configuration, delegate: delegate, delegateQueue: nil)
        #endif
    }

    deinit {
        if !isShared { session.finishTasksAndInvalidate() }
    }

    func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Runs a closure that may wait for the session: at once, or on another thread if this one is the session's own.
    func outsideTheSession(_ work: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
            if ImmediateQueue.isRunning { return control.async(execute: work) }
        #endif
        work()
    }

    /// Makes a task of the session, whose events go to the exchange.
    func makeTask(_ request: URLRequest, body: OutgoingBody, for exchange: Exchange) -> URLSessionTask {
        let task: URLSessionTask =
            switch body.source {
            case .none: session.dataTask(with: request)
            case .data(let data): session.uploadTask(with: request, from: data)
            case .file(let url): session.uploadTask(with: request, fromFile: url)
            case .content(let content, let length): session.dataTask(with: request.streaming(content, length: length))
            }
        #if !canImport(FoundationNetworking)
            if isShared { task.delegate = delegate }
        #endif
        delegate.connect(exchange, to: task)
        return task
    }
}

// MARK: - Exchanges in flight

extension SessionOwner {
    var count: Int { inFlight.withLock { $0.count } }

    /// Registers an exchange until its end; false if it may not begin, because a reset waits for others.
    func admit(_ exchange: Exchange) -> Bool {
        inFlight.withLock { $0.admit(exchange, number: exchange.number) }
    }

    func watch(_ deadline: TimerInstant) { deadlines.note(deadline) }

    func ended(_ exchange: Exchange) {
        for group in inFlight.withLock({ $0.end(exchange.number) }) { group.leave() }
    }

    /// Cancels all exchanges, and leaves `group` when the last of them has ended.
    func cancelAll(in group: DispatchGroup) {
        group.enter()
        guard let waitedFor = inFlight.withLock({ $0.begin(group) }) else { return group.leave() }
        for exchange in waitedFor { exchange.stop(.cancelled) }
    }

    /// Leaves `group` although exchanges have not ended, and admits others again.
    func giveUp(_ group: DispatchGroup) {
        for group in inFlight.withLock({ $0.giveUp { $0 === group } }) { group.leave() }
    }
}
