@testable import LoaderChain

/// A state whose decisions are carried out at once, and written down.
struct DrivenCredentials {
    private(set) var notes: [CredentialNote] = []
    private var state: CredentialState<Int, Int>
    private var obtained = 0
    private var waiting: [(task: Int, number: Int)] = []
    private var inFlight: [(task: Int, generation: Int)] = []
    private var now = TimerInstant(nanoseconds: 0)
    private var question: Int?
    private var isEmptying = false

    init(forgetsRejected: Bool) { state = CredentialState(forgetsRejected: forgetsRejected) }

    var waitingCount: Int { state.waiting }

    mutating func happens(_ event: CredentialEvent, at step: Int) {
        switch event {
        case .arrive: follow(state.arrive(step, at: now), step)
        case .reject(let place, let canBeReplayed):
            guard !inFlight.isEmpty else { return }
            let (task, generation) = inFlight.remove(at: place % inFlight.count)
            if let next = state.reject(generation, by: canBeReplayed ? task : nil, at: now) {
                follow(next, task)
            } else {
                notes.append(.keepsItsRejection(task))
            }
        case .obtain(let lifetime):
            guard question != nil else { return }
            end(state.answer(obtained + 1, until: lifetime.map { instant(after: $0) }, hasForgotten: false))
        case .fail(let hasForgotten):
            guard question != nil else { return }
            end(state.answer(nil, until: nil, hasForgotten: hasForgotten))
        case .leave(let place):
            guard !waiting.isEmpty else { return }
            let (task, number) = waiting.remove(at: place % waiting.count)
            if state.leave(number) == task { notes.append(.left(task)) }
            // A second cancel finds no caller.
            if state.leave(number) != nil { notes.append(.left(-1)) }
        case .advance(let time): now = instant(after: time)
        case .reset: reset()
        case .finishReset(let hasForgotten):
            guard isEmptying else { return }
            isEmptying = false
            state.finishReset(hasForgotten: hasForgotten)
        }
    }

    private func instant(after time: Int) -> TimerInstant { now.advanced(by: .nanoseconds(time)) }

    private mutating func follow(_ step: CredentialState<Int, Int>.Step, _ task: Int) {
        switch step {
        case .go(let held): goes(task, held)
        case .wait(let number): wait(task, number)
        case .ask(let question, let number):
            wait(task, number)
            notes.append(.asks(replacing: question.old, loads: question.mayLoad, forgets: question.mustForget))
            self.question = question.number
        case .refuse: notes.append(.refused(task))
        }
    }

    private mutating func wait(_ task: Int, _ number: Int) {
        waiting.append((task, number))
        notes.append(.waits(task))
    }

    private mutating func goes(_ task: Int, _ held: CredentialState<Int, Int>.Held) {
        // A credential is known by the number that it must have been given.
        notes.append(.goes(task, generation: held.credential == held.generation ? held.generation : -1))
        inFlight.append((task, held.generation))
    }

    private mutating func end(_ ending: CredentialState<Int, Int>.Ending) {
        question = nil
        switch ending {
        case .go(let tasks, let held):
            obtained += 1
            waiting = []
            for task in tasks { goes(task, held) }
        case .stay(let tasks):
            waiting = []
            notes += tasks.map { .fails($0) }
        case .forget: empty()
        }
    }

    private mutating func reset() {
        let (tasks, forgetsNow) = state.reset()
        waiting.removeAll { tasks.contains($0.task) }
        notes += tasks.map { .refused($0) }
        if let question, state.standing(of: question) != .unwanted { notes.append(.refused(-1)) }
        if forgetsNow { empty() }
    }

    private mutating func empty() {
        isEmptying = true
        notes.append(.empties)
    }
}
