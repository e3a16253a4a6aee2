@testable import LoaderChain

/// What may happen to a loader's credential, as the tests let it happen; tasks are known by the number of their step.
enum CredentialEvent: Hashable {
    case arrive
    /// The server rejects the credential of the task in flight at this place, counted round.
    case reject(Int, canBeReplayed: Bool)
    /// The question is answered, with a credential that is good for so long; nil for ever.
    case obtain(lifetime: Int?)
    /// The question is answered in vain.
    case fail(hasForgotten: Bool)
    /// The waiter at this place, counted round, is cancelled.
    case leave(Int)
    case advance(Int)
    case reset
    case finishReset(hasForgotten: Bool)
}

/// What an event leads to.
enum CredentialNote: Equatable {
    case goes(Int, generation: Int), waits(Int), refused(Int), keepsItsRejection(Int), left(Int), fails(Int)
    case asks(replacing: Int?, loads: Bool, forgets: Bool)
    case empties
}

/// The contract of the state written down as plainly as possible, to compare the real one with.
struct NaiveCredentials {
    let forgetsRejected: Bool
    private(set) var notes: [CredentialNote] = []
    private(set) var queue: [Int] = []
    private(set) var inFlight: [(task: Int, generation: Int)] = []
    private(set) var isAsking = false
    private(set) var isEmptying = false
    private(set) var now = 0

    private var isResetting = false
    private var current: (generation: Int, deadline: Int?)?
    private var isSpoilt = false
    private var storeIsToForget = false
    private var obtained = 0
    private var ofThisUser: Set<Int> = []

    init(forgetsRejected: Bool) { self.forgetsRejected = forgetsRejected }

    mutating func happens(_ event: CredentialEvent, at step: Int) {
        switch event {
        case .arrive: need(step)
        case .reject(let place, let canBeReplayed): reject(place, canBeReplayed)
        case .obtain(let lifetime): if isAsking { obtain(lifetime) }
        case .fail(let hasForgotten): if isAsking { fail(hasForgotten) }
        case .leave(let place):
            if !queue.isEmpty { notes.append(.left(queue.remove(at: place % queue.count))) }
        case .advance(let time): now += time
        case .reset: reset()
        case .finishReset(let hasForgotten):
            guard isEmptying else { return }
            isEmptying = false
            isResetting = false
            storeIsToForget = !hasForgotten
        }
    }

    private mutating func need(_ task: Int) {
        if isResetting { return notes.append(.refused(task)) }
        if !isAsking, let current, !isSpoilt, current.deadline.map({ now < $0 }) ?? true {
            return goes(task, current.generation)
        }
        queue.append(task)
        notes.append(.waits(task))
        guard !isAsking else { return }
        isAsking = true
        notes.append(
            .asks(
                replacing: current?.generation, loads: current == nil,
                forgets: storeIsToForget || (forgetsRejected && current != nil)))
    }

    private mutating func goes(_ task: Int, _ generation: Int) {
        notes.append(.goes(task, generation: generation))
        inFlight.append((task, generation))
    }

    private mutating func reject(_ place: Int, _ canBeReplayed: Bool) {
        guard !inFlight.isEmpty else { return }
        let (task, generation) = inFlight.remove(at: place % inFlight.count)
        guard ofThisUser.contains(generation) else { return notes.append(.keepsItsRejection(task)) }
        if current?.generation == generation { isSpoilt = true }
        if canBeReplayed { need(task) } else { notes.append(.keepsItsRejection(task)) }
    }

    private mutating func obtain(_ lifetime: Int?) {
        isAsking = false
        guard !isResetting else { return empty() }
        obtained += 1
        ofThisUser.insert(obtained)
        current = (obtained, lifetime.map { now + $0 })
        isSpoilt = false
        for task in replace(&queue, with: []) { goes(task, obtained) }
    }

    private mutating func fail(_ hasForgotten: Bool) {
        isAsking = false
        guard !isResetting else { return empty() }
        isSpoilt = true
        if hasForgotten {
            current = nil
            storeIsToForget = false
        }
        for task in replace(&queue, with: []) { notes.append(.fails(task)) }
    }

    private mutating func reset() {
        ofThisUser = []
        storeIsToForget = true
        guard !isResetting else { return }
        isResetting = true
        current = nil
        for task in replace(&queue, with: []) { notes.append(.refused(task)) }
        if !isAsking { empty() }
    }

    private mutating func empty() {
        isEmptying = true
        notes.append(.empties)
    }
}
