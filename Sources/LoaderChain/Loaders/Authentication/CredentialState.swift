/// The state of the credential that all tasks of a loader need, decided without threads, clocks or callbacks.
///
/// At most one question for a credential is under way, to the store, the source or both. Tasks without a credential
/// wait for its answer. Credentials are numbered in the order in which they come, so that a rejection of an old
/// credential is distinguished from a rejection of the current credential.
///
/// Every method changes the state and returns the work to do, which the owner does after it has unlocked.
struct CredentialState<Credential: Sendable, Waiter> {
    enum Phase: Sendable {
        /// There is no credential. The store may have one.
        case idle
        /// A question is under way. The old credential is not used any more.
        case authorizing(replacing: Held?)
        /// There is a credential, and no reason to replace it.
        case authorized(Held)
        /// There is a credential that was rejected or could not be replaced in time. The next task asks again.
        case expired(Held)
        /// Everything is to be forgotten, once the question that is still under way has stopped.
        case resetting(isAsking: Bool)
    }

    struct Held: Sendable {
        let credential: Credential
        let generation: Int
        /// When to replace it; nil if only the server knows.
        let deadline: TimerInstant?

        func isDue(at now: TimerInstant) -> Bool { deadline.map { $0 <= now } ?? false }
    }

    struct Question: Sendable {
        let number: Int
        /// The credential to replace, if there is one.
        let old: Credential?
        /// Whether the store may have the answer.
        let mayLoad: Bool
        /// Whether the store is to forget what it has before anything else.
        let mustForget: Bool
    }

    /// What to do with a task.
    enum Step {
        /// Send it with this credential.
        case go(Held)
        /// It is kept, under this number, until the question is answered.
        case wait(Int)
        /// It is kept, under this number; ask the question.
        case ask(Question, Int)
        /// Refuse it, because of a reset.
        case refuse
    }

    private(set) var phase = Phase.idle
    private let forgetsRejected: Bool
    // Whether the store still has a credential that a reset was to remove.
    private var mustForget = false
    private var generation = 0
    private var firstGenerationSinceReset = 1
    private var questions = 0
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0

    init(forgetsRejected: Bool) { self.forgetsRejected = forgetsRejected }

    var waiting: Int { waiters.count }

    // MARK: Tasks

    mutating func arrive(_ waiter: Waiter, at now: TimerInstant) -> Step {
        switch phase {
        case .authorized(let held) where !held.isDue(at: now): .go(held)
        case .idle: ask(replacing: nil, for: waiter)
        case .authorized(let held), .expired(let held): ask(replacing: held, for: waiter)
        case .authorizing: .wait(keep(waiter))
        case .resetting: .refuse
        }
    }

    /// The server rejected the credential of this generation; nil if that is the task's result, as without a `waiter` to send again.
    mutating func reject(_ generation: Int, by waiter: Waiter?, at now: TimerInstant) -> Step? {
        // The user of before the reset may not be the user of now.
        guard generation >= firstGenerationSinceReset else { return nil }
        if case .authorized(let held) = phase, held.generation == generation { phase = .expired(held) }
        guard let waiter else { return nil }
        return arrive(waiter, at: now)
    }

    /// Removes a task that no longer waits; nil if it did not wait.
    mutating func leave(_ number: Int) -> Waiter? { waiters.removeValue(forKey: number) }

    // MARK: The question

    enum Standing { case underWay, unwanted, over }

    func standing(of number: Int) -> Standing {
        guard number == questions else { return .over }
        return switch phase {
        case .authorizing: .underWay
        case .resetting(isAsking: true): .unwanted
        case .idle, .authorized, .expired, .resetting(isAsking: false): .over
        }
    }

    enum Ending {
        /// Send these tasks.
        case go([Waiter], Held)
        /// There is no credential for these tasks.
        case stay([Waiter])
        /// Continue the reset that has stopped the question.
        case forget
    }

    /// The question was answered, with a credential or without; meanwhile the store may have been emptied.
    mutating func answer(_ credential: Credential?, until deadline: TimerInstant?, hasForgotten: Bool) -> Ending {
        guard case .authorizing(let old) = phase else {
            phase = .resetting(isAsking: false)
            return .forget
        }
        if hasForgotten { mustForget = false }
        guard let credential else {
            if let old, !hasForgotten { phase = .expired(old) } else { phase = .idle }
            return .stay(takeWaiters())
        }
        generation += 1
        let held = Held(credential: credential, generation: generation, deadline: deadline)
        phase = .authorized(held)
        return .go(takeWaiters(), held)
    }

    // MARK: Resetting

    /// Starts a reset; returns the waiting tasks, which get no credential, and whether the store can be emptied now.
    mutating func reset() -> (waiters: [Waiter], forgetsNow: Bool) {
        firstGenerationSinceReset = generation + 1
        mustForget = true
        switch phase {
        case .resetting:
            // The reset that is under way serves both: no credential has come since it began.
            return ([], false)
        case .authorizing:
            phase = .resetting(isAsking: true)
            return (takeWaiters(), false)
        case .idle, .authorized, .expired:
            phase = .resetting(isAsking: false)
            return ([], true)
        }
    }

    /// Ends a reset, after the store was emptied or has failed to be.
    mutating func finishReset(hasForgotten: Bool) {
        phase = .idle
        mustForget = !hasForgotten
    }

    /// Ends a reset that was given up: tasks may ask again, after the store was emptied, and what is still under way is ignored.
    mutating func giveUpReset() {
        guard case .resetting = phase else { return }
        phase = .idle
        questions += 1
    }

    /// Whether what began with the question of this number, or after it, still counts.
    func hears(_ number: Int) -> Bool { number == questions }

    var lastQuestion: Int { questions }

    // MARK: Inside

    private mutating func ask(replacing old: Held?, for waiter: Waiter) -> Step {
        questions += 1
        phase = .authorizing(replacing: old)
        let question = Question(
            number: questions, old: old?.credential, mayLoad: old == nil,
            mustForget: mustForget || forgetsRejected && old != nil)
        return .ask(question, keep(waiter))
    }

    private mutating func keep(_ waiter: Waiter) -> Int {
        nextWaiter += 1
        waiters[nextWaiter] = waiter
        return nextWaiter
    }

    private mutating func takeWaiters() -> [Waiter] {
        replace(&waiters, with: [:]).sorted { $0.key < $1.key }.map(\.value)
    }
}
