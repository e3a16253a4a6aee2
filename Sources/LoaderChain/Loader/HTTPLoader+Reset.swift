import Dispatch
import LoaderChainPlatformFoundation

extension HTTPLoader {
    /// Resets the chain from this loader on, and calls back when every loader has finished.
    ///
    /// Each call is a reset of its own, also during another one: it has finished when everything that was loaded before the
    /// call has ended.
    ///
    /// - Parameters:
    ///   - queue: the queue of the completion. The default is a global queue, which works while the main thread is blocked.
    ///   - completion: called once.
    @preconcurrency
    public final func reset(on queue: DispatchQueue = .global(), completion: @escaping @Sendable () -> Void) {
        RunningReset { _ in queue.async { completion() } }.begin(at: self)
    }

    /// Resets the chain from this loader on, and returns when every loader has finished.
    ///
    /// If the Swift task that waits is cancelled, this returns at once, and the reset goes on. So a loader may reset its own
    /// chain while a request waits in it: an ``Autocancel`` above ends the request, whose end the reset waits for.
    public final func reset() async {
        let end = Awaited<RunningReset.End?>(nil)
        RunningReset { result in end.change { $0 = result } }.begin(at: self)
        _ = await end.wait { $0 }
    }

    /// Resets the chain from this loader on, and calls back when every loader has finished, or when the time is up.
    ///
    /// A task that ignores its cancel would keep a reset running forever, and a ``ResetGuard`` shut. When the time is up, the
    /// reset is given up: the guard opens, the loaders take tasks again, and the error names those that have not finished.
    /// Tasks that they still run are left alone.
    ///
    /// - Parameters:
    ///   - limit: the time limit of the reset; with zero or less, only what can be done at once is done.
    ///   - queue: the queue of the completion. The default is a global queue, which works while the main thread is blocked.
    ///   - timers: the clock of the limit.
    ///   - completion: called once.
    @preconcurrency
    public final func reset(
        within limit: Duration, on queue: DispatchQueue = .global(), timers: any Timers = SystemTimers.shared,
        completion: @escaping @Sendable (Result<Void, ResetTimedOutError>) -> Void
    ) {
        RunningReset { result in queue.async { completion(result) } }.begin(at: self, until: (limit, timers))
    }

    /// Resets the chain from this loader on, and returns when every loader has finished.
    ///
    /// ```swift
    /// do {
    ///     try await chain.reset(within: .seconds(5))
    /// } catch {
    ///     print(error)  // Who has not finished.
    /// }
    /// ```
    ///
    /// See ``reset(within:on:timers:completion:)``.
    ///
    /// - Throws: ``ResetTimedOutError`` when the time is up, or when the Swift task that waits is cancelled; then the reset goes on
    ///   until its time is up.
    public final func reset(
        within limit: Duration, timers: any Timers = SystemTimers.shared
    ) async throws(ResetTimedOutError) {
        let end = Awaited<RunningReset.End?>(nil)
        let reset = RunningReset { result in end.change { $0 = result } }
        reset.begin(at: self, until: (limit, timers))
        try (await end.wait { $0 } ?? reset.endNow(limit)).get()
    }
}

/// A reset that is running, and its caller, who is called back once.
private final class RunningReset: Sendable {
    typealias End = Result<Void, ResetTimedOutError>

    private let walk = ResetWalk(whole: DispatchGroup())
    private let alarm = Alarm()
    /// Calls back; nil once it has.
    private let callBack: Locked<(@Sendable (End) -> Void)?>

    init(callBack: @escaping @Sendable (End) -> Void) { self.callBack = Locked(callBack) }

    func begin(at loader: HTTPLoader, until end: (limit: Duration, timers: any Timers)? = nil) {
        if let (limit, timers) = end, limit > .zero {
            // Set before the walk, because a loader may block it.
            let due = timers.now.advanced(by: limit)
            alarm.set(on: timers, for: { callBack.withLock { $0 == nil } ? nil : due }) { self.timeOut(limit) }
        }
        walk.go(on: [loader])
        walk.whole.notify(queue: .global()) { self.takeCallBack()?(.success(())) }
        if let limit = end?.limit, limit <= .zero { timeOut(limit) }
    }

    /// How the reset ends if it may take no longer than it has.
    func endNow(_ limit: Duration) -> End {
        if walk.isFinished { return .success(()) }
        return .failure(
            ResetTimedOutError(
                limit: limit, unfinished: walk.unfinished.map { ResetTimedOutError.Unfinished($0) },
                unreached: walk.unreached.map(\.name).sorted()))
    }

    private func timeOut(_ limit: Duration) {
        // Before the walk ends, because its end would call back with a success.
        guard let callBack = takeCallBack() else { return }
        let end = endNow(limit)
        walk.giveUp()
        callBack(end)
    }

    private func takeCallBack() -> (@Sendable (End) -> Void)? {
        let callBack = callBack.withLock { replace(&$0, with: nil) }
        alarm.end()
        return callBack
    }
}

// MARK: - The end of the time

/// Thrown when a reset exceeds its time limit; names the loaders that have not finished.
public struct ResetTimedOutError: Error, Sendable {
    /// The time limit of the reset.
    public let limit: Duration
    /// The loaders that have not finished, in the order in which the reset reached them.
    ///
    /// Several loaders may wait for the same task; the last of them is often the loader that keeps it.
    public let unfinished: [Unfinished]
    /// The names of the loaders that were not reset, as one before them has not returned from its own reset.
    public let unreached: [String]

    /// A loader that has not finished its reset.
    public struct Unfinished: Sendable {
        /// The name of the loader.
        public let loader: String
        /// The settings and live counts of the loader, as in its description; empty if it has none.
        public let details: String
        /// The tasks that the loader waits for, if it can name them, each with the loader that has it in its description.
        public let tasks: [HTTPTask]

        init(_ loader: HTTPLoader) {
            self.loader = loader.name
            details = loader.details
            tasks = (loader as? any TaskHolder)?.heldTasks.flatMap(\.runningAttempts) ?? []
        }
    }
}

/// A loader that can name the tasks that it waits for.
protocol TaskHolder {
    var heldTasks: [HTTPTask] { get }
}

extension HTTPTask {
    /// The attempts that run for this task, or the task itself if there are none.
    fileprivate var runningAttempts: [HTTPTask] {
        let attempts = core.withState { state, _ in state.attempts.all }
        return attempts.isEmpty ? [self] : attempts.flatMap { HTTPTask(for: $0).runningAttempts }
    }
}

extension ResetTimedOutError: CustomStringConvertible, LocalizedError {
    /// The limit, the loaders that have not finished, and those that were not reset; no secrets.
    public var description: String {
        let who = unfinished.map(\.description).joined(separator: "; ")
        let rest = unreached.isEmpty ? "" : "; not reset: " + unreached.joined(separator: ", ")
        return "The reset was not finished after \(limit)" + (who.isEmpty ? "" : ": \(who)") + rest
    }

    /// The description.
    public var errorDescription: String? { description }
}

extension ResetTimedOutError.Unfinished: CustomStringConvertible {
    /// The loader, and the first of its tasks.
    public var description: String {
        let text = details.isEmpty ? loader : "\(loader)(\(details))"
        guard !tasks.isEmpty else { return text }
        let mostNamed = 3
        let named = tasks.prefix(mostNamed).map(\.description).joined(separator: ", ")
        return "\(text) waits for \(named)" + (tasks.count > mostNamed ? " and \(tasks.count - mostNamed) more" : "")
    }
}

// MARK: - For loaders that keep tasks

/// The tasks that the resets of a loader wait for, until their time limits.
///
/// A loader that keeps tasks lets a reset wait until each has ended. When the time of a reset is up, it forgets that
/// reset, so that a task that never ends keeps nothing of the resets that were given up.
///
/// ```swift
/// final class Shelf: HTTPLoader, @unchecked Sendable {
///     private let lock = NSLock()
///     private var tasks: [HTTPTask] = []
///     private let waits = ResetWaits()
///
///     override func load(task: HTTPTask) {
///         lock.withLock { tasks.append(task) }
///     }
///
///     override func reset(with group: DispatchGroup) {
///         for task in lock.withLock({ tasks }) {
///             waits.add(group, for: task)
///             task.cancel()
///         }
///         super.reset(with: group)
///     }
///
///     override func resetTimedOut(with group: DispatchGroup) {
///         waits.giveUp(group)
///         super.resetTimedOut(with: group)
///     }
/// }
/// ```
///
/// A task costs one observer, however many resets wait for it.
public final class ResetWaits: TaskEndObserver, Sendable {
    /// The groups of the resets, by the tasks; a task stays until it has ended, so that it is observed once.
    private let groups = Locked<[UInt64: [DispatchGroup]]>([:])

    /// Makes an object without tasks.
    public init() {}

    /// Enters `group`, and leaves it when the task has its result.
    public func add(_ group: DispatchGroup, for task: HTTPTask) {
        group.enter()
        let isNew = groups.withLock { groups in
            let isNew = groups[task.number] == nil
            groups[task.number, default: []].append(group)
            return isNew
        }
        // Outside the lock and after the entry, because a task that has ended calls back at once.
        if isNew { task.addEndObserver(self) }
    }

    /// Leaves `group` although tasks have not ended, and forgets it.
    public func giveUp(_ group: DispatchGroup) {
        let left = groups.withLock { groups in
            groups.keys.reduce(0) { $0 + (groups[$1]?.take { $0 === group }.count ?? 0) }
        }
        for _ in 0..<left { group.leave() }
    }

    /// Leaves the groups that waited for the task.
    func taskHasEnded(_ task: HTTPTask, with result: HTTPResult) {
        for group in groups.withLock({ $0.removeValue(forKey: task.number) }) ?? [] { group.leave() }
    }
}
