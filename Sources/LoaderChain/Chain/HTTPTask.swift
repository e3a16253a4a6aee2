import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One execution of a request.
///
/// A task travels down a chain of loaders. Whoever is handed it *has* it, and owes it exactly one completion: by passing
/// it on, or by calling ``complete(_:)`` or ``fail(_:response:underlyingError:reason:)``.
///
/// ```swift
/// let task = HTTPTask(request: request)
/// task.addCompletionHandler { result in print(result) }
/// chain.load(task: task)
/// ```
///
/// What can be relied on:
/// - The first completion wins. Later ones change nothing and answer `false`.
/// - ``cancel()`` asks whoever has the task to stop; that one completes it. Once the cancel came first, the result is
///   ``HTTPError/Code/cancelled`` whatever is completed with.
/// - Completion handlers run once each, the last registered first, and under no lock: a loader further down has settled
///   its books before one above hears of the result, and the caller comes last.
/// - A task that everybody has let go of completes with ``HTTPError/Code/abandoned``.
/// - Any of its methods may be called from any thread, and from inside any handler.
public final class HTTPTask: @unchecked Sendable {
    // A life is led by one object, or by two: the caller's, which holds all of it, and one that travels down the chain for
    // it. What follows is used in the caller's object only, and changed under its lock.
    let lock = TinyLock()
    /// Whether an observer hears of waits, here or of the task that this one works for; without one, a wait costs a look at
    /// this byte.
    let isMetered = Atomic(false)
    @exclusivity(unchecked) var life = TaskLife()
    @exclusivity(unchecked) var currentRequest: HTTPRequest
    @exclusivity(unchecked) var attempts = AttemptList()
    let holder = Atomic<Unmanaged<LoaderName>?>(nil)
    /// The task that this one works for.
    let parent: HTTPTask?

    /// What the ``id`` is made of; it rises from task to task in the order in which they are made.
    ///
    /// A caller's task and the one that travels for it share it, no others do.
    let number: UInt64
    /// The caller's task, for one that travels; held, but reached without counting a reference.
    private let callerReference: Unmanaged<HTTPTask>?

    /// Makes a task that is still to be loaded.
    public init(request: HTTPRequest) {
        currentRequest = request
        number = TaskIdentity.next()
        parent = nil
        callerReference = nil
    }

    /// Makes a task that is still to be loaded, with a first completion handler.
    @preconcurrency
    public convenience init(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void) {
        self.init(request: request)
        addCompletionHandler(completion)
    }

    /// Makes a task that works for another.
    init(request: HTTPRequest, parent: HTTPTask) {
        currentRequest = request
        number = TaskIdentity.next()
        self.parent = parent
        callerReference = nil
        if parent.isMetered.load(ordering: .acquiring) { isMetered.store(true, ordering: .relaxed) }
    }

    /// Makes the object that travels for `caller`.
    init(travellingFor caller: HTTPTask) {
        currentRequest = caller.currentRequest
        number = caller.number
        parent = nil
        callerReference = .passRetained(caller)
    }

    /// Stands in for a task that is being released, so that its handlers can be handed an object that lives.
    private init(inheriting task: borrowing HTTPTask) {
        currentRequest = task.currentRequest
        number = task.number
        // It works for nobody who would not still hold it, and nobody works for it who would not hold it.
        parent = nil
        callerReference = nil
        life = task.life
        isMetered.store(task.isMetered.load(ordering: .relaxed), ordering: .relaxed)
        lock.release(task.lock.flags)
        holder.store(task.holder.load(ordering: .relaxed), ordering: .relaxed)
    }

    deinit {
        if let callerReference {
            if !callerReference._withUnsafeGuaranteedRef({ $0.lock.flags.contains(.completed) }) { letGo() }
            callerReference.release()
        } else if !lock.flags.contains(.completed) {
            letGo()
        }
    }

    /// Completes a task that is being released, if somebody still waits for its end.
    @inline(never)
    private func letGo() {
        // Whoever was to complete a task that travelled has let go of it.
        if let caller { return caller.abandon() }
        if life.isAwaited { HTTPTask(inheriting: self).abandon() }
    }

    /// The caller's task, for one that travels.
    var caller: HTTPTask? { callerReference?.takeUnretainedValue() }

    /// Does something with the object that holds the life, without counting a reference to it.
    @inline(__always)
    func withOwner<Result>(_ body: (HTTPTask) -> Result) -> Result {
        (callerReference ?? .passUnretained(self))._withUnsafeGuaranteedRef(body)
    }

    /// What sets this execution apart from every other, also from one of the same request.
    public var id: UUID { TaskIdentity.uuid(number) }

    /// The request as it stands; loaders on the way down may rewrite it.
    ///
    /// Only the loader that has the task rewrites it, before passing it on. ``HTTPResponse/request`` and
    /// ``HTTPError/request`` show what it had become in the end.
    public var request: HTTPRequest {
        get {
            withOwner { owner in
                let flags = owner.lock.acquire()
                defer { owner.lock.release(flags) }
                return owner.currentRequest
            }
        }
        set {
            withOwner { owner in
                let flags = owner.lock.acquire()
                // The old value leaves through `unused`: it may hold the last reference to something of a user's.
                let unused = exchange(&owner.currentRequest, with: newValue)
                owner.lock.release(flags)
                _ = consume unused
            }
        }
    }

    /// An option of the request, read without counting a reference to it.
    @inline(__always)
    func option<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        peek { $0.options[option] }
    }

    /// The host of the request, read without counting a reference to it.
    var host: String? { peek { $0.address.host } }

    /// Reads under the lock, so only what is the library's own.
    @inline(__always)
    private func peek<Value>(_ read: (HTTPRequest.Storage) -> Value) -> Value {
        withOwner { owner in
            let flags = owner.lock.acquire()
            defer { owner.lock.release(flags) }
            return Unmanaged.passUnretained(owner.currentRequest.storage)._withUnsafeGuaranteedRef(read)
        }
    }

    /// What can be known of the life without its lock.
    @inline(__always)
    var flags: TinyLock.Flags { withOwner { $0.lock.flags } }

    /// Whether somebody asked for its end before it had a result.
    public var isCancelled: Bool { flags.contains(.cancelled) }

    /// Whether it has its result.
    public var isCompleted: Bool { flags.contains(.completed) }

    /// Whether there is still something to do for a loader that is handed the task.
    @inline(__always)
    var isOpen: Bool { flags.isEmpty }
}

// MARK: - Who has it

extension HTTPTask {
    /// Notes that the loader of this name has the task now.
    @inline(__always)
    func isHeld(by name: Unmanaged<LoaderName>) {
        // Relaxed, because it only tells what to name: the loader's name lives for ever.
        withOwner { $0.holder.store(name, ordering: .relaxed) }
    }

    /// The name of the loader that has the task, once one was handed it by another.
    var holderName: String? {
        withOwner { $0.holder.load(ordering: .relaxed) }?.takeUnretainedValue().text
    }
}

extension HTTPTask: CustomStringConvertible, CustomReflectable {
    /// Nothing: a dump would read what other threads change meanwhile.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// What it is to load, how far it has got, and who has it; no secrets.
    public var description: String {
        let state = isCompleted ? "completed" : isCancelled ? "cancelled" : "open"
        let request = request
        let holder = holderName.map { ", with \($0)" } ?? ""
        return "HTTPTask \(id): \(request.method) \(request.loggableURL), \(state)\(holder)"
    }
}

extension TinyLock.Flags {
    static let cancelled = first
    static let completed = second
}
