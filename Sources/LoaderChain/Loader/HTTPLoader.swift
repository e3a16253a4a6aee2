// Loader: the node of a chain, the arrow that links nodes, loading and resetting. It may use Task and what lies below
// it; no loader of the package is named here.

import Dispatch
import Synchronization

/// A node of a loader chain.
///
/// **What it is.** A loader receives tasks. It passes each task on to the next loader, changed or unchanged, now or
/// later, or completes it itself. The last loader of a chain, its *terminal*, completes every task that it receives.
///
/// **How to use one.** Link loaders with `-->`, and load requests with the first loader:
///
/// ```swift
/// let chain = MyLoader() --> terminal
/// let response = try await chain.load(HTTPRequest(url: url))
/// ```
///
/// **How to write one.** Override ``load(task:)``, and call `super` to pass the task on. Register a handler to learn
/// how the task ended.
///
/// ```swift
/// final class SlowRequestLogger: HTTPLoader, @unchecked Sendable {
///     override func load(task: HTTPTask) {
///         let start = ContinuousClock.now
///         task.addCompletionHandler { result in
///             let time = start.duration(to: .now)
///             if time > .seconds(1) { print(result.request.path, time) }
///         }
///         super.load(task: task)
///     }
/// }
/// ```
///
/// A loader is called from any thread, also from several at once. Protect the state that you change, and hold no lock
/// while you pass a task on or complete one. An ``AsyncLoader`` or a ``ClosureLoader`` takes less code.
///
/// A subclass restates `@unchecked Sendable`, in Swift 5 mode too, because only its author can promise that it is.
//
// `nonisolated` is for apps whose code belongs to the main actor by default: their loaders would, too, without it. The
// conformance has no condition such as `@available(swift 6)`: with a condition, the compiler warns of a subclass that restates
// it in Swift 5 mode and of a subclass that does not in Swift 6 mode, so no source would suit both.
nonisolated open class HTTPLoader: @unchecked Sendable {
    /// The next loader, set once and held until this loader ends.
    private let next = Atomic<Unmanaged<HTTPLoader>?>(nil)
    /// The number of the name; zero before the first task.
    private let label = Atomic(0)

    /// Makes a loader without a next one.
    public init() {}

    deinit {
        if let next = next.load(ordering: .acquiring) { HandlerCalls.release(.fromOpaque(next.toOpaque())) }
    }

    // MARK: To override

    /// The loader's name in descriptions and errors; by default the name of its type.
    ///
    /// The name is read once, and kept for the life of the process, so return one of a few names.
    open var name: String { "\(Self.self)" }

    /// Loads a task: passes it on, now or later, or completes it.
    ///
    /// Call `super` to pass the task on. Without a next loader, the task fails with ``HTTPError/Code/cannotConnect``. A
    /// completed task goes no further; a cancelled task is completed here.
    open func load(task: HTTPTask) {
        guard let next = next.load(ordering: .acquiring) else { return failWithoutNext(task) }
        // This loader is alive during the call, and holds the next one until its own end. A counted reference would
        // make a request through seven loaders a tenth slower, and threads that share a chain would contend for one
        // cache line.
        guard next._withUnsafeGuaranteedRef({ $0.accept(task) }) else { return }
        next._withUnsafeGuaranteedRef { $0.load(task: task) }
    }

    /// Returns the loader to its initial state, with nothing in flight.
    ///
    /// An override enters the group, does its work, leaves the group when the work is done, and calls `super`. Each
    /// loader further down is reset once, even where several paths lead to it; not necessarily before `super` has
    /// returned. The group is for this loader only: it is empty when this loader is done, and others may still be busy.
    ///
    /// To start a reset, call ``reset(on:completion:)``, ``reset()`` or ``reset(within:timers:)``. If you call this
    /// method directly, the group is empty when the whole reset is over. You may use it for several resets.
    open func reset(with group: DispatchGroup) {
        ResetWalk.walk(of: group).go(on: branches + [nextLoader].compactMap(\.self))
    }

    /// Tells a loader that has not left its group that the time limit of the reset has passed.
    ///
    /// Override it to leave the group and forget it, so that tasks that never end keep nothing of resets that were given
    /// up; ``ResetWaits`` does both. If the loader refuses tasks during a reset, it accepts them again. What is left
    /// running may go on. The method of `HTTPLoader` does nothing, and leaving the group later does no harm.
    ///
    /// - Parameter group: the group that ``reset(with:)`` was called with.
    open func resetTimedOut(with group: DispatchGroup) {}

    /// The chains that the loader leads to in addition to its next loader.
    ///
    /// A loader that chooses between chains returns them here, so that they are checked for circles and reset with it. The
    /// loader describes them in its ``details``, and does not reset them itself.
    open var branches: [HTTPLoader] { [] }

    /// Whether the loader completes every task itself, so that a loader after it would get none; by default not.
    ///
    /// A terminal overrides it. A link behind a terminal would be of no use, and stops the program instead of losing the
    /// loaders that were meant for another chain.
    open var isTerminal: Bool { false }

    /// The loader's settings and live counts for descriptions.
    ///
    /// A few words, such as `limit 4, running 2, waiting 10`; empty if there is nothing to show.
    open var details: String { "" }

    /// The loader's live numbers for dashboards; by default none.
    ///
    /// Override it to report how many tasks wait in a loader of yours, or how many it has refused. It is read from time to
    /// time, on any thread, and may take the loader's lock. ``chainReadings`` has those of a whole chain.
    open var readings: [LoaderReading] { [] }

    // MARK: Passing on

    /// Takes over a task from another loader or the caller, and returns whether it still has to be loaded.
    ///
    /// A loader that passes a task to one that is not its next, such as the first of a branch, asks this before it calls
    /// that loader's ``load(task:)``. A task that is cancelled or completed already is not loaded any more; if it still
    /// needs a result, it has one when this returns.
    @inline(__always)
    public final func accept(_ task: HTTPTask) -> Bool {
        let label = label.load(ordering: .relaxed)
        task.noteHolder(label == 0 ? makeLabel() : label)
        if task.isOpen { return true }
        finishWithoutLoading(task)
        return false
    }

    // Errors are made out of line, so that the frames of a long chain stay small.
    @inline(never)
    private final func finishWithoutLoading(_ task: HTTPTask) {
        // A cancelled task still needs its completion; for a completed one this does nothing.
        fail(task, .cancelled)
    }

    @inline(never)
    private final func failWithoutNext(_ task: HTTPTask) {
        fail(
            task, .cannotConnect,
            reason: "\(name) is last in its chain and not a terminal; link one, such as URLSessionLoader()")
    }

    /// Completes a task with an error that names this loader.
    ///
    /// - Returns: whether this was the first result.
    @inline(never)
    @discardableResult
    public final func fail(
        _ task: HTTPTask, _ code: HTTPError.Code, response: HTTPResponse? = nil,
        underlyingError: (any Error)? = nil, reason: String? = nil
    ) -> Bool {
        let error = HTTPError(
            code, request: task.request, response: response, underlyingError: underlyingError, reason: reason,
            loader: name)
        return task.complete(.failure(error))
    }

    @inline(never)
    private final func makeLabel() -> Int {
        let made = LoaderName.number(of: name)
        label.store(made, ordering: .relaxed)
        return made
    }

    // MARK: Linking

    /// The loader that tasks are passed on to; it can be set once.
    ///
    /// `-->` is the usual way to set it.
    public final var nextLoader: HTTPLoader? {
        get { next.load(ordering: .acquiring)?.takeUnretainedValue() }
        set {
            guard let newValue else {
                if let nextLoader { stop("\(name) is already linked to \(nextLoader.name); links cannot be removed") }
                return
            }
            if isTerminal {
                stop(
                    """
                    \(newValue.name) cannot come after \(name), which is a terminal and passes nothing on. If the chain on the left \
                    begins with a loader of another chain, make a new loader for this one: chains may share only their last loaders. \
                    For chains that share their first ones, link a Choose after those, with the rest of each chain as a branch
                    """)
            }
            let reference = Unmanaged.passRetained(newValue)
            let outcome = next.compareExchange(expected: nil, desired: reference, ordering: .acquiringAndReleasing)
            if !outcome.exchanged, let nextLoader {
                reference.release()
                stop("\(name) is already linked to \(nextLoader.name), and cannot be linked to \(newValue.name) too")
            }
            // The search comes after the link, and after a fence that keeps it there: of two threads that close a
            // circle together, at least one sees it.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            if newValue.leads(to: self) {
                stop("\(name) cannot be linked to \(newValue.name), which leads back to it")
            }
            didLink(to: newValue)
        }
    }

    /// Called once when the next loader is linked; override it to link the branches.
    ///
    /// The method of `HTTPLoader` does nothing. See ``BranchEnd``.
    open func didLink(to next: HTTPLoader) {}

    /// Stops the program: a chain that is linked wrongly is a programming error that would lose requests.
    private func stop(_ sentence: String) -> Never {
        fatalError(sentence)
    }
}

// MARK: - The chain from here on

extension HTTPLoader {
    package final var tail: HTTPLoader {
        var tail = self
        while let next = tail.nextLoader { tail = next }
        return tail
    }

    /// This loader and all that a task can get to from here, each once; branches come before what follows them.
    final var fromHereOn: [HTTPLoader] {
        var found: [HTTPLoader] = []
        var seen: Set<ObjectIdentifier> = []
        var toVisit = [self]
        while let visited = toVisit.popLast() {
            guard seen.insert(ObjectIdentifier(visited)).inserted else { continue }
            found.append(visited)
            if let next = visited.nextLoader { toVisit.append(next) }
            toVisit += visited.branches.reversed()
        }
        return found
    }

    private final func leads(to loader: HTTPLoader) -> Bool { fromHereOn.contains { $0 === loader } }
}

extension HTTPLoader: CustomStringConvertible {
    /// The chain from this loader on, in order, with the settings and live counts of each.
    ///
    /// `ResetGuard --> Throttle(limit 4, running 2, waiting 10) --> URLSessionLoader`
    public final var description: String {
        descriptions(before: nil).joined(separator: " --> ")
    }

    /// The chain from this loader up to `end`, for which an ellipsis stands if the chain leads there.
    ///
    /// A composite uses it to describe its branches, each up to the point where they meet.
    public final func description(before end: HTTPLoader) -> String {
        descriptions(before: end).joined(separator: " --> ")
    }

    private final func descriptions(before end: HTTPLoader?) -> [String] {
        var texts: [String] = []
        var loader: HTTPLoader? = self
        while let described = loader {
            if described === end { return texts + ["…"] }
            texts.append(described.ownDescription)
            loader = described.nextLoader
        }
        return texts
    }

    /// The loader alone, with its settings and live counts.
    private final var ownDescription: String {
        let details = details
        return details.isEmpty ? name : "\(name)(\(details))"
    }
}
