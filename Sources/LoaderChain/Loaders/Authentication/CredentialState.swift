/// What a loader knows of the one credential that all its tasks need, decided without threads, clocks or callbacks.
///
/// At most one question is under way at any time: who the user is, put to the store, to the source or to both. Tasks that
/// have no credential wait for its answer. Credentials are numbered in the order in which they came, so that a task whose
/// credential was rejected can be told from one that was sent with a later one.
///
/// Every method changes the state and returns what there is to do. The owner does that after it has unlocked.
struct CredentialState<Credential: Sendable, Waiter> {
    /// Where the knowledge has got to.
    enum Phase: Sendable {
        /// Nothing is known. The store may know more.
        case idle
        /// A question is under way. What was known before is not used any more.
        case authorizing(replacing: Held?)
        /// There is a credential, and nothing is known against it.
        case authorized(Held)
        /// There is a credential that was rejected or that nobody could replace in time. The next task asks again.
        case expired(Held)
        /// Everything is to be forgotten, once the question that is still under way has stopped.
        case resetting(isAsking: Bool)
    }

    /// A credential with what is known about it.
    struct Held: Sendable {
        let credential: Credential
        let generation: Int
        /// When it is to be replaced; nil if only the server knows.
        let deadline: TimerInstant?

        func isDue(at now: TimerInstant) -> Bool { deadline.map { $0 <= now } ?? false }
    }

    /// What is to be found out.
    struct Question: Sendable {
        let number: Int
        /// What is known already, and is to be replaced.
        let old: Credential?
        /// Whether the store may have it.
        let mayLoad: Bool
        /// Whether the store is to forget what it has before anything else.
        let mustForget: Bool
    }

    /// What becomes of a task.
    enum Step {
        /// It goes on its way with this credential.
        case go(Held)
        /// It is kept under a number until the question is answered.
        case wait(Int)
        /// It is kept too, and the question is to be asked.
        case ask(Question, Int)
        /// It goes nowhere, because of a reset.
        case refuse
    }

    private(set) var phase = Phase.idle
    private let forgetsRejected: Bool
    // What the store still has although a reset wanted it gone.
    private var mustForget = false
    private var generation = 0
    private var firstGenerationSinceReset = 1
    private var questions = 0
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0

    /// Begins with nothing.
    ///
    /// - Parameter forgetsRejected: whether a credential that has expired is of no use for getting the next.
    init(forgetsRejected: Bool) { self.forgetsRejected = forgetsRejected }

    var waiting: Int { waiters.count }

    // MARK: Tasks

    /// A task needs a credential.
    mutating func arrive(_ waiter: Waiter, at now: TimerInstant) -> Step {
        switch phase {
        case .authorized(let held) where !held.isDue(at: now): .go(held)
        case .idle: ask(replacing: nil, for: waiter)
        case .authorized(let held), .expired(let held): ask(replacing: held, for: waiter)
        case .authorizing: .wait(keep(waiter))
        case .resetting: .refuse
        }
    }

    /// The server rejected the credential of this generation; nil if the task has to live with that.
    ///
    /// - Parameter waiter: the task, if it can be sent again.
    mutating func reject(_ generation: Int, by waiter: Waiter?, at now: TimerInstant) -> Step? {
        // Who was signed in before a reset is not the one who is now.
        guard generation >= firstGenerationSinceReset else { return nil }
        if case .authorized(let held) = phase, held.generation == generation { phase = .expired(held) }
        guard let waiter else { return nil }
        return arrive(waiter, at: now)
    }

    /// A task does not wait any longer; nil if it did not wait.
    mutating func leave(_ number: Int) -> Waiter? { waiters.removeValue(forKey: number) }

    // MARK: The question

    /// What is to be done with the work on a question, once somebody can.
    enum Standing { case underWay, unwanted, over }

    func standing(of number: Int) -> Standing {
        guard number == questions else { return .over }
        return switch phase {
        case .authorizing: .underWay
        case .resetting(isAsking: true): .unwanted
        case .idle, .authorized, .expired, .resetting(isAsking: false): .over
        }
    }

    /// What an answered question leads to.
    enum Ending {
        /// These go on their way.
        case go([Waiter], Held)
        /// There is nothing for these to go on with.
        case stay([Waiter])
        /// The reset that wanted the question to stop goes on.
        case forget
    }

    /// The question was answered, with a credential or without.
    ///
    /// - Parameter hasForgotten: whether the store has been emptied in the course of it.
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

    /// Everything is to be forgotten; returns who waits in vain, and whether the store can be emptied now.
    mutating func reset() -> (waiters: [Waiter], forgetsNow: Bool) {
        firstGenerationSinceReset = generation + 1
        mustForget = true
        switch phase {
        case .resetting:
            // The one that runs forgets for both: nothing has been learnt since it began.
            return ([], false)
        case .authorizing:
            phase = .resetting(isAsking: true)
            return (takeWaiters(), false)
        case .idle, .authorized, .expired:
            phase = .resetting(isAsking: false)
            return ([], true)
        }
    }

    /// The store has been emptied, or would not be.
    mutating func finishReset(hasForgotten: Bool) {
        phase = .idle
        mustForget = !hasForgotten
    }

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

    /// Everybody who waits, first come first.
    private mutating func takeWaiters() -> [Waiter] {
        exchange(&waiters, with: [:]).sorted { $0.key < $1.key }.map(\.value)
    }
}
