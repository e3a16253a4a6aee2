import Dispatch
import LoaderChain

/// The option that every request of a check has set, to its own path.
enum ContractCanary: HTTPRequestOption {
    static var defaultOptionValue: String { "" }
}

/// The loader after the loader that is checked, which records what it receives.
final class ContractTerminal: ScriptedTerminal, @unchecked Sendable {
    enum Behaviour: Sendable {
        /// The task is held until the check answers; a cancel completes it.
        case holds
        /// The task is held until the check answers, as by a transport that takes a while to stop.
        case holdsCancelled
        /// The task is answered inside `load`, as the closure says: with a status, or with an error.
        case answers(@Sendable (_ number: Int) -> Answer)
        /// The task is answered on another thread.
        case answersLater
        /// The task is answered three times.
        case repeats
        /// The task is released without an answer.
        case drops
    }

    struct Arrival: Sendable {
        let task: WeakReference
        let path: String
        let canary: String
        let text: String
    }

    /// The moments at which a check may call the loader from a second thread.
    enum Moment: Hashable, Sendable { case load, cancel, reset }

    /// How many tasks are answered: a part loads a few dozen, for each of which a loader may need some requests.
    private static let mostArrivals = 1_000

    private let behaviour: Behaviour
    private let signal: ContractSignal
    private let atMoment: @Sendable (Moment) -> Void
    private let state = Locked(State())

    private struct State {
        var arrivals: [Arrival] = []
        var resets = 0
        var repeatedPaths: [String] = []
        var takenPaths: [String] = []
        /// Which tasks are answered at once, since the part ends.
        var mayBeLeft: (@Sendable (HTTPTask) -> Bool)?
    }

    init(_ behaviour: Behaviour, _ signal: ContractSignal, atMoment: @escaping @Sendable (Moment) -> Void = { _ in }) {
        self.behaviour = behaviour
        self.signal = signal
        self.atMoment = atMoment
        if case .holds = behaviour { super.init() } else { super.init(onCancel: .waits) }
    }

    override var name: String { "Terminal" }

    // MARK: What it has seen

    var arrivals: [Arrival] { state.withLock { $0.arrivals } }
    var resets: Int { state.withLock { $0.resets } }
    /// Whether more tasks have arrived than any part loads; those that come now get no answer.
    var isFlooded: Bool { state.withLock { $0.arrivals.count > Self.mostArrivals } }
    /// The paths of tasks that arrived again while they were held.
    var repeatedPaths: [String] { state.withLock { $0.repeatedPaths } }
    /// The paths of held tasks that were completed before they were answered, and not because of a cancel, unless the terminal was
    /// to answer those too.
    var takenPaths: [String] { state.withLock { $0.takenPaths } }

    /// The path of a held task whose request differs from the request that arrived.
    var changedPath: String? {
        let arrivals = arrivals
        let changed = held.lazy.compactMap { task in
            arrivals.first { $0.task.object === task && $0.text != Self.text(of: task.request) }
        }
        return changed.first?.path
    }

    // MARK: Answering

    static func body(for path: String) -> String { "The answer to \(path)" }

    /// Answers those tasks at once that arrive when their loader may have left them, such as a task that a deadline has ended on its way.
    ///
    /// Nobody looks at what is held after the end of a part.
    func end(answering mayBeLeft: @escaping @Sendable (HTTPTask) -> Bool) {
        state.withLock { $0.mayBeLeft = mayBeLeft }
    }

    func give(_ answer: Answer = .success(), to task: HTTPTask) {
        switch answer {
        case .success(let status, let headers, _):
            let body = Self.body(for: task.request[option: ContractCanary.self])
            self.answer(task, status, headers: headers, body: body)
        case .failure(let code): refuse(task, code)
        }
    }

    // MARK: As a loader

    override func load(task: HTTPTask) {
        if task.failIfInvalid() { return }
        let request = task.request
        let holds = isHolding || isFlooded
        let arrival = Arrival(
            task: WeakReference(task), path: request.path, canary: request[option: ContractCanary.self],
            text: holds ? Self.text(of: request) : "")
        guard !holds || hold(task) else { return state.withLock { $0.repeatedPaths.append(arrival.path) } }
        let number = state.withLock { state in
            state.arrivals.append(arrival)
            return state.arrivals.count - 1
        }
        signal.raise()
        atMoment(.load)
        guard !holds else {
            // The task is among the held tasks already, so either the end of the part sees it there, or this sees the end.
            if state.withLock(\.mayBeLeft)?(task) ?? false { give(to: task) }
            return
        }
        switch behaviour {
        case .answers(let answer): give(answer(number), to: task)
        case .answersLater: DispatchQueue.global().async { self.give(to: task) }
        case .repeats:
            give(to: task)
            give(.success(.notFound), to: task)
            give(.failure(.timedOut), to: task)
        case .drops, .holds, .holdsCancelled: break
        }
    }

    private var isHolding: Bool {
        switch behaviour {
        case .holds, .holdsCancelled: true
        case .answers, .answersLater, .repeats, .drops: false
        }
    }

    override func noteCancel(of task: HTTPTask) {
        atMoment(.cancel)
        if !isFlooded { super.noteCancel(of: task) }
    }

    override func noteEnd(of task: HTTPTask) {
        // The part may wait until nothing is held.
        defer { signal.raise() }
        // Before it completes a task, the terminal removes it.
        guard remove(task) != nil else { return }
        if task.isCancelled {
            guard case .holdsCancelled = behaviour, !(task.request.deadline?.hasPassed ?? false) else { return }
        }
        let path = task.request[option: ContractCanary.self]
        state.withLock { $0.takenPaths.append(path) }
    }

    override func reset(with group: DispatchGroup) {
        let isFirst = state.withLock { state in
            state.resets += 1
            return state.resets == 1
        }
        signal.raise()
        if isFirst { atMoment(.reset) }
        super.reset(with: group)
    }

    /// Everything in which two requests can differ, but for options.
    private static func text(of request: HTTPRequest) -> String {
        request.curlCommand(includingSecrets: true) + request[option: ContractCanary.self]
    }
}

/// Observes the completion of one task, or of something else that ends once.
final class TaskProbe: @unchecked Sendable {
    /// The path, which identifies the task's request among others.
    let path: String
    private let signal: ContractSignal
    private let state = Locked(State())
    /// The task that `load` returned to the caller; set by the thread that loads it.
    var task: WeakReference?

    private struct State {
        var completions = 0
        var result: HTTPResult?
    }

    init(_ path: String, _ signal: ContractSignal) {
        self.path = path
        self.signal = signal
    }

    var completions: Int { state.withLock { $0.completions } }
    var hasEnded: Bool { completions > 0 }
    var result: HTTPResult? { state.withLock { $0.result } }

    @discardableResult
    func cancel() -> Bool { (task?.object as? HTTPTask)?.cancel() ?? false }

    /// Notes that the completion was called.
    func complete(_ result: HTTPResult? = nil) {
        state.withLock { state in
            state.completions += 1
            if state.completions == 1 { state.result = result }
        }
        signal.raise()
    }
}

final class WeakReference: @unchecked Sendable {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}
