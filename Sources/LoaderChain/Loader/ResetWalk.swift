import Dispatch

/// One reset on its way through a chain: each loader is reset once, and the stack does not grow with the chain.
///
/// Each loader gets a group of its own, by which the walk recognizes the loaders that it announces in turn, and those that
/// have not finished. The first call to announce loaders visits them one after the other until none is left; announcements
/// that the visited loaders make only lengthen the list.
///
/// The group of the whole reset is held once for each loader that has not finished, and once while loaders are visited.
/// When the reset is given up, all of that is released.
final class ResetWalk: Sendable {
    let whole: DispatchGroup
    private let state: Locked<State>

    /// The walks that are under way, by the groups of the loaders that have not finished.
    private static let walks = Locked<[ObjectIdentifier: ResetWalk]>([:])

    init(whole: DispatchGroup) {
        self.whole = whole
        state = Locked(State(whole: whole))
    }

    /// The walk that the group of a loader belongs to; a new one for any other group.
    ///
    /// A group that is used for several resets therefore ends with all of them, and each is a reset of its own.
    static func walk(of group: DispatchGroup) -> ResetWalk {
        walks.withLock { $0[ObjectIdentifier(group)] } ?? ResetWalk(whole: group)
    }

    /// Resets `loaders`, except those that this reset has already reached.
    func go(on loaders: [HTTPLoader]) {
        guard state.withLock({ $0.announce(loaders) }) else { return }
        while let visit = state.withLock({ $0.next() }) { reset(visit) }
    }

    /// The loaders that have not finished, in the order in which they were reached.
    var unfinished: [HTTPLoader] { state.withLock { $0.unfinished.map(\.loader) } }

    /// The loaders that the reset has not come to, as one before them has not returned, in no order.
    var unreached: [HTTPLoader] {
        let (known, started) = state.withLock { ($0.known, $0.isUnderWay ? $0.unfinished.map(\.loader) : []) }
        var found: [ObjectIdentifier: HTTPLoader] = [:]
        var toVisit = started
        while let visited = toVisit.popLast() {
            let followers = visited.branches + [visited.nextLoader].compactMap(\.self)
            for next in followers where !known.contains(ObjectIdentifier(next)) {
                if found.updateValue(next, forKey: ObjectIdentifier(next)) == nil { toVisit.append(next) }
            }
        }
        return Array(found.values)
    }

    /// Whether the walk has begun, and every loader has finished.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Ends the reset without the loaders that have not finished, and calls them.
    func giveUp() {
        let given = state.withLock { $0.giveUp() }
        // The loaders that are not reached any more end here, outside the lock.
        // Their groups stay known: a loader that is still being reset announces the next ones to this walk, which ends there.
        for visit in given.left { visit.loader.resetTimedOut(with: visit.group) }
        // Now, so that a guard opens only when the loaders below it take tasks again.
        for _ in 0..<given.holds { whole.leave() }
    }

    private func reset(_ visit: Visit) {
        Self.walks.withLock { $0[ObjectIdentifier(visit.group)] = self }
        visit.loader.reset(with: visit.group)
        // Most have finished by now, which needs no other thread.
        if visit.group.wait(timeout: .now()) == .success { return finish(visit.group) }
        // Without the loader, which may never leave its group.
        let group = visit.group
        group.notify(queue: .global()) { self.finish(group) }
        // If the reset was given up meanwhile, the loader may have been called before it had anything to give up.
        if state.withLock({ $0.isGivenUp }) { visit.loader.resetTimedOut(with: visit.group) }
    }

    private func finish(_ group: DispatchGroup) {
        Self.forget(group)
        if state.withLock({ $0.finish(group) }) != nil { whole.leave() }
    }

    private static func forget(_ group: DispatchGroup) {
        _ = walks.withLock { $0.removeValue(forKey: ObjectIdentifier(group)) }
    }
}

private struct Visit {
    let loader: HTTPLoader
    let group = DispatchGroup()
}

private struct State {
    let whole: DispatchGroup
    private(set) var known: Set<ObjectIdentifier> = []
    private var toVisit: [HTTPLoader] = []
    private(set) var isUnderWay = false
    private(set) var unfinished: [Visit] = []
    private(set) var isGivenUp = false

    init(whole: DispatchGroup) { self.whole = whole }

    var isFinished: Bool { !known.isEmpty && !isUnderWay && unfinished.isEmpty && !isGivenUp }

    /// Announces loaders, and returns whether the caller has to visit them.
    mutating func announce(_ loaders: [HTTPLoader]) -> Bool {
        guard !isGivenUp else { return false }
        for loader in loaders where known.insert(ObjectIdentifier(loader)).inserted { toVisit.append(loader) }
        guard !isUnderWay, !toVisit.isEmpty else { return false }
        isUnderWay = true
        whole.enter()
        return true
    }

    mutating func next() -> Visit? {
        guard !isGivenUp, let loader = toVisit.popLast() else {
            isUnderWay = false
            if !isGivenUp { whole.leave() }
            return nil
        }
        let visit = Visit(loader: loader)
        unfinished.append(visit)
        whole.enter()
        return visit
    }

    /// A loader has finished; returns nil if the reset was given up before.
    mutating func finish(_ group: DispatchGroup) -> Visit? {
        unfinished.firstIndex { $0.group === group }.map { unfinished.remove(at: $0) }
    }

    /// Gives the reset up; returns the loaders that have not finished, those that were not reached, and how often the group is still held.
    mutating func giveUp() -> (left: [Visit], unreached: [HTTPLoader], holds: Int) {
        guard !isGivenUp else { return ([], [], 0) }
        isGivenUp = true
        let left = replace(&unfinished, with: [])
        return (left, replace(&toVisit, with: []), left.count + (isUnderWay ? 1 : 0))
    }
}
