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
public final class HTTPTask: Sendable {
    let core: TaskCore
    private let role: Role

    /// What an object is to the task that it stands for.
    private enum Role: Sendable {
        /// It was made with the task. It is the caller's where another travels, and travels itself otherwise.
        case original
        /// It travels down the chain in the caller's stead, and keeps the caller's, which may be held weakly, until it ends.
        case traveller(HTTPTask?)
        /// It is handed to handlers where none of the others is at hand, and is responsible for nothing.
        case standIn
    }

    private init(_ core: TaskCore, as role: Role) {
        self.core = core
        self.role = role
    }

    /// Makes a task that is still to be loaded.
    public convenience init(request: HTTPRequest) {
        self.init(TaskCore(request), as: .original)
    }

    /// Makes a task that is still to be loaded, with a first completion handler.
    @preconcurrency
    public convenience init(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void) {
        self.init(request: request)
        addCompletionHandler(completion)
    }

    /// Makes the object of an attempt's maker, to whom it is what a task is to its caller.
    convenience init(holding attempt: TaskCore) {
        self.init(attempt, as: .original)
    }

    /// Makes the object that travels down the chain for a caller's.
    convenience init(travellingFor caller: HTTPTask) {
        self.init(caller.core, as: .traveller(caller))
    }

    /// Makes the object that travels down the chain for a task without a caller, such as an attempt.
    convenience init(travellingFor core: TaskCore) {
        self.init(core, as: .traveller(nil))
    }

    /// Makes an object to hand to handlers, which can go without a word.
    convenience init(for core: TaskCore) {
        self.init(core, as: .standIn)
    }

    deinit {
        // Whoever was to complete the task has let go of it.
        if !isCompleted, isResponsible { HTTPTask(for: core).abandon() }
    }

    /// Whether the task has nobody left to complete it when this object is gone.
    private var isResponsible: Bool {
        switch role {
        case .original: core.withState { state, _ in state.life.isAwaited }
        case .traveller: true
        case .standIn: false
        }
    }

    /// Whether what is registered here is the caller's, and not a loader's.
    var isCallers: Bool {
        if case .original = role { true } else { false }
    }

    /// What the ``id`` is made of; it rises from task to task in the order in which they are made.
    var number: UInt64 { core.number }

    /// What sets this execution apart from every other, also from one of the same request.
    public var id: UUID { TaskIdentity.uuid(number) }

    /// The request as it stands; loaders on the way down may rewrite it.
    ///
    /// Only the loader that has the task rewrites it, before passing it on. ``HTTPResponse/request`` and
    /// ``HTTPError/request`` show what it had become in the end.
    public var request: HTTPRequest {
        get { peek { $0 } }
        set {
            var request = newValue
            core.withState { state, _ in swap(&state.request, &request) }
            // The old value ends here: it may hold the last reference to something of a user's.
        }
    }

    /// An option of the request, read without a copy of the whole.
    @inline(__always)
    func option<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        peek { $0.storage.options[option] }
    }

    /// The host of the request, read without a copy of the whole.
    var host: String? { peek { $0.storage.address.host } }

    /// Reads under the lock, so only what is the library's own.
    @inline(__always)
    private func peek<Value: Sendable>(_ read: (HTTPRequest) -> Value) -> Value {
        core.withState { state, _ in read(state.request) }
    }

    /// Whether somebody asked for its end before it had a result.
    public var isCancelled: Bool { core.flags.contains(.cancelled) }

    /// Whether it has its result.
    public var isCompleted: Bool { core.flags.contains(.completed) }

    /// Whether there is still something to do for a loader that is handed the task.
    @inline(__always)
    var isOpen: Bool { core.flags.isEmpty }
}

// MARK: - Who has it

extension HTTPTask {
    /// Notes that the loader with a name of this number has the task now.
    @inline(__always)
    func noteHolder(_ number: Int) {
        core.noteHolder(number)
    }

    /// The name of the loader that has the task, once one was handed it by another.
    var holderName: String? { LoaderName.text(core.holderNumber) }
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
