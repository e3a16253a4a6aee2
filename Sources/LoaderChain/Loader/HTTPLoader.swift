import Dispatch
import Synchronization

/// A node of a loader chain.
///
/// **What it is.** A loader is handed tasks. It passes each on to the loader after it, changed or not, now or later; or it
/// completes it itself. The last loader of a chain, its *terminal*, completes every task it is handed.
///
/// **How to use one.** Link loaders with `-->`, and load requests with the first of them:
///
/// ```swift
/// let chain = MyLoader() --> terminal
/// let response = try await chain.load(HTTPRequest(url: url))
/// ```
///
/// **How to write one.** Override ``load(task:)`` and call `super` to pass the task on. Register a handler to hear how the
/// task ended.
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
/// A loader is called from any thread, also from many at once. It protects what it changes, and keeps no lock while it
/// passes a task on or completes one. An ``AsyncLoader`` or a ``ClosureLoader`` is less to write.
///
/// A subclass restates `@unchecked Sendable`, in Swift 5 mode too: nobody but its author can promise what it says.
//
// `nonisolated` is for apps whose code belongs to the main actor by default; their loaders would belong to it too. The
// conformance has no condition such as `@available(swift 6)`: with one, a subclass that restates it is warned of in Swift 5
// mode, and one that does not in Swift 6 mode, so that no source would do for both.
nonisolated open class HTTPLoader: @unchecked Sendable {
    /// The next loader, which is set once, and held until this one ends.
    private let next = Atomic<Unmanaged<HTTPLoader>?>(nil)
    /// The number of the name; zero until it was asked for.
    private let label = Atomic(0)

    /// Makes a loader without a next one.
    public init() {}

    deinit {
        if let next = next.load(ordering: .acquiring) { HandlerCalls.release(.fromOpaque(next.toOpaque())) }
    }

    // MARK: To override

    /// What the loader is called in descriptions and errors; its type's name, unless overridden.
    ///
    /// It is asked for once. Names are kept for the life of the process, so a loader answers one of a few.
    open var name: String { "\(Self.self)" }

    /// Loads a task: passes it on, sooner or later, or completes it.
    ///
    /// Call `super` to pass it on. Without a loader to pass it on to, the task fails with
    /// ``HTTPError/Code/cannotConnect``. A task that is over already goes no further; a cancelled one is completed here.
    open func load(task: HTTPTask) {
        guard let next = next.load(ordering: .acquiring) else { return failWithoutNext(task) }
        // This loader is alive during the call, and never lets go of the next one before its own end. A counted reference
        // would cost a request through seven loaders a tenth more, and threads that share a chain the same cache line.
        guard next._withUnsafeGuaranteedRef({ $0.accepts(task) }) else { return }
        next._withUnsafeGuaranteedRef { $0.load(task: task) }
    }

    /// Returns the loader to how it was in the beginning, with nothing in flight.
    ///
    /// An override enters the group, does its work, leaves the group when it is done, and calls `super`. The rest of the
    /// chain is reset once each, even where several paths lead to a loader; not necessarily before `super` has returned.
    ///
    /// To start a reset, call ``reset(on:completion:)`` or ``reset()``. Whoever calls this method himself brings a new
    /// group for each reset.
    open func reset(with group: DispatchGroup) {
        ResetWalk.go(on: branches + [nextLoader].compactMap(\.self), with: group)
    }

    /// The chains that a loader leads to beside its next one.
    ///
    /// A loader that chooses between chains answers them, so that they are checked for circles and reset with it. It
    /// describes them in its ``details``, and does not reset them itself.
    open var branches: [HTTPLoader] { [] }

    /// The loader's settings and live counts, as it shows them in descriptions.
    ///
    /// A few words, such as `limit 4, running 2, waiting 10`; empty if there is nothing to tell.
    open var details: String { "" }

    // MARK: Passing on

    /// Takes over a task from the loader before, or from the caller, and answers whether it is still to be loaded.
    @inline(__always)
    final func accepts(_ task: HTTPTask) -> Bool {
        let label = label.load(ordering: .relaxed)
        task.noteHolder(label == 0 ? makeLabel() : label)
        if task.isOpen { return true }
        finishWithoutLoading(task)
        return false
    }

    // Errors are made out of line, so that the frames of a long chain stay small.
    @inline(never)
    private final func finishWithoutLoading(_ task: HTTPTask) {
        // Whoever waits for a cancelled task waits for a completion; for a completed one this does nothing.
        fail(task, .cancelled)
    }

    @inline(never)
    private final func failWithoutNext(_ task: HTTPTask) {
        fail(task, .cannotConnect, reason: "\(name) is the last loader of its chain, and no terminal")
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

    /// Asks for the name, which then is known by a number.
    @inline(never)
    private final func makeLabel() -> Int {
        let made = LoaderName(name).number
        label.store(made, ordering: .relaxed)
        return made
    }

    // MARK: Linking

    /// The loader that tasks are passed on to; it is set once.
    ///
    /// `-->` is the usual way to set it.
    public final var nextLoader: HTTPLoader? {
        get { next.load(ordering: .acquiring)?.takeUnretainedValue() }
        set {
            guard let newValue else {
                if let nextLoader { stop("\(name) already has \(nextLoader.name) as its next loader, which stays") }
                return
            }
            let reference = Unmanaged.passRetained(newValue)
            let outcome = next.compareExchange(expected: nil, desired: reference, ordering: .acquiringAndReleasing)
            if !outcome.exchanged, let nextLoader {
                reference.release()
                stop("\(name) already has \(nextLoader.name) as its next loader, and cannot get \(newValue.name) too")
            }
            // Looked for once the link is there, and after a fence, which lets no look go ahead of it: of two threads that
            // close a circle together, one at least sees it.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            if newValue.leads(to: self) {
                stop("\(name) cannot have \(newValue.name) as its next loader, because that one leads back to it")
            }
            wasLinked(to: newValue)
        }
    }

    /// Hears that tasks are passed on to `next` from now on; for a loader whose branches lead there too.
    func wasLinked(to next: HTTPLoader) {}

    /// A chain that is put together wrongly is a fault of the program that would lose requests, so the program stops.
    private func stop(_ sentence: String) -> Never {
        fatalError(sentence)
    }
}

extension HTTPLoader {
    /// The loader at the end of the next loaders.
    final var tail: HTTPLoader {
        var tail = self
        while let next = tail.nextLoader { tail = next }
        return tail
    }

    /// Whether a task could get from here to `loader`.
    private final func leads(to loader: HTTPLoader) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var toVisit = [self]
        while let visited = toVisit.popLast() {
            if visited === loader { return true }
            guard seen.insert(ObjectIdentifier(visited)).inserted else { continue }
            toVisit += visited.branches
            if let next = visited.nextLoader { toVisit.append(next) }
        }
        return false
    }
}
