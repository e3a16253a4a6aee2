import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation

/// The option that every request of a check has set, to its own path.
enum ContractCanary: HTTPRequestOption {
    static var defaultOptionValue: String { "" }
}

/// The loader after the one that is checked, which records what it receives.
final class ContractTerminal: HTTPLoader, @unchecked Sendable {
    /// What becomes of a task that arrives.
    enum Behaviour: Sendable {
        /// It is held until the check answers; a cancel completes it.
        case holds
        /// It is held until the check answers, as by a transport that takes a while to stop.
        case holdsCancelled
        /// It is answered inside `load`, as the closure says: with a status, or with an error.
        case answers(@Sendable (_ number: Int) -> Answer)
        /// It is answered on another thread.
        case answersLater
        /// It is answered three times.
        case repeats
        /// It is released without an answer.
        case drops
    }

    enum Answer: Sendable {
        case status(HTTPStatus)
        case failure(HTTPError.Code)
    }

    /// A task as it arrived.
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
    private let waits = ResetWaits()

    private struct State {
        var arrivals: [Arrival] = []
        var held: [(arrival: Int, task: HTTPTask)] = []
        var answers = 0
        var resets = 0
        var repeatedPaths: [String] = []
        var takenPaths: [String] = []
        /// Which tasks are answered at once, since the part ends.
        var mayBeLeft: (@Sendable (HTTPTask) -> Bool)?

        mutating func remove(_ task: HTTPTask) -> HTTPTask? {
            guard let index = held.firstIndex(where: { $0.task === task }) else { return nil }
            return held.remove(at: index).task
        }
    }

    init(_ behaviour: Behaviour, _ signal: ContractSignal, atMoment: @escaping @Sendable (Moment) -> Void = { _ in }) {
        self.behaviour = behaviour
        self.signal = signal
        self.atMoment = atMoment
    }

    override var name: String { "Terminal" }

    // MARK: What it has seen

    var arrivals: [Arrival] { state.withLock { $0.arrivals } }
    var held: [HTTPTask] { state.withLock { $0.held.map(\.task) } }
    var resets: Int { state.withLock { $0.resets } }
    /// Whether more tasks have arrived than any part loads; those that come now get no answer.
    var isFlooded: Bool { state.withLock { $0.arrivals.count > Self.mostArrivals } }
    /// The paths of tasks that arrived again while they were held.
    var repeatedPaths: [String] { state.withLock { $0.repeatedPaths } }
    /// The paths of held tasks that were completed before they were answered, and not because of a cancel, unless the terminal was
    /// to answer those too.
    var takenPaths: [String] { state.withLock { $0.takenPaths } }

    /// The path of a held task whose request is not the one that arrived.
    var changedPath: String? {
        let held = state.withLock { state in state.held.map { ($0.task, state.arrivals[$0.arrival]) } }
        return held.first { task, arrival in Self.text(of: task.request) != arrival.text }?.1.path
    }

    // MARK: Answering

    /// The body of every answer to the request with this path.
    static func body(for path: String) -> String { "The answer to \(path)" }

    /// Completes a held task with a response.
    func answer(_ task: HTTPTask) {
        guard state.withLock({ $0.remove(task) }) != nil else { return }
        complete(task, with: .status(.ok))
    }

    /// Answers those tasks at once that arrive when their loader may have left them, as one does that a deadline has ended on its way.
    ///
    /// Nobody looks at what is held after the end of a part.
    func end(answering mayBeLeft: @escaping @Sendable (HTTPTask) -> Bool) {
        state.withLock { $0.mayBeLeft = mayBeLeft }
    }

    private func complete(_ task: HTTPTask, with answer: Answer) {
        switch answer {
        case .status(let status):
            let request = task.request
            let body = Self.body(for: request[option: ContractCanary.self])
            task.complete(.success(HTTPResponse(request: request, status: status, body: Data(body.utf8))))
        case .failure(let code): fail(task, code)
        }
    }

    // MARK: As a loader

    override func load(task: HTTPTask) {
        let request = task.request
        do throws(HTTPError) {
            _ = try request.encoded()
        } catch {
            task.complete(.failure(error))
            return
        }
        guard let number = arrive(task, request) else { return }
        signal.raise()
        guard number <= Self.mostArrivals else { return hold(task, completesCancelled: false) }
        if number == 0 { atMoment(.load) }
        switch behaviour {
        case .holds: hold(task, completesCancelled: true)
        case .holdsCancelled: hold(task, completesCancelled: false)
        case .answers(let answer): complete(task, with: answer(number))
        case .answersLater: DispatchQueue.global().async { self.complete(task, with: .status(.ok)) }
        case .repeats:
            complete(task, with: .status(.ok))
            complete(task, with: .status(.notFound))
            complete(task, with: .failure(.timedOut))
        case .drops: break
        }
    }

    override func reset(with group: DispatchGroup) {
        let isFirst = state.withLock { state in
            state.resets += 1
            return state.resets == 1
        }
        signal.raise()
        if isFirst { atMoment(.reset) }
        for task in held {
            waits.add(group, for: task)
            task.cancel()
        }
        super.reset(with: group)
    }

    override func resetTimedOut(with group: DispatchGroup) {
        waits.giveUp(group)
        super.resetTimedOut(with: group)
    }

    /// Records an arrival, and returns its number; nil if the task has arrived before.
    private func arrive(_ task: HTTPTask, _ request: HTTPRequest) -> Int? {
        let arrival = Arrival(
            task: WeakReference(task), path: request.path, canary: request[option: ContractCanary.self],
            text: isHolding ? Self.text(of: request) : "")
        let id = task.id
        return state.withLock { state in
            if state.held.contains(where: { $0.task.id == id }) {
                state.repeatedPaths.append(arrival.path)
                return nil
            }
            state.arrivals.append(arrival)
            let number = state.arrivals.count - 1
            if isHolding || number > Self.mostArrivals { state.held.append((number, task)) }
            return number
        }
    }

    private var isHolding: Bool {
        switch behaviour {
        case .holds, .holdsCancelled: true
        case .answers, .answersLater, .repeats, .drops: false
        }
    }

    private func hold(_ task: HTTPTask, completesCancelled: Bool) {
        task.addCompletionHandler { [weak self, weak task] in
            guard let self, let task else { return }
            self.forget(task)
        }
        task.addCancelHandler { [weak self] task in
            guard let self else { return }
            atMoment(.cancel)
            guard completesCancelled, state.withLock({ $0.remove(task) }) != nil else { return }
            complete(task, with: .failure(.cancelled))
        }
        if state.withLock(\.mayBeLeft)?(task) ?? false { answer(task) }
    }

    /// Notes a completion that was not the terminal's own.
    private func forget(_ task: HTTPTask) {
        guard let taken = state.withLock({ $0.remove(task) }) else { return }
        if taken.isCancelled {
            guard case .holdsCancelled = behaviour, !(taken.request.deadline?.hasPassed ?? false) else { return }
        }
        let path = taken.request[option: ContractCanary.self]
        state.withLock { $0.takenPaths.append(path) }
        signal.raise()
    }

    /// Everything in which two requests can differ, but for options.
    private static func text(of request: HTTPRequest) -> String {
        request.curlCommand(includingSecrets: true) + request[option: ContractCanary.self]
    }
}

/// Observes the completion of one task, or of something else that ends once.
final class TaskProbe: @unchecked Sendable {
    /// What the task asks for, which tells its request from those of others.
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

    /// Cancels the task, and returns whether that came before its result.
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
