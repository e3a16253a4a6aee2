import Dispatch

/// Walks a reset through a chain, so that each loader is reset once and the stack does not grow with the chain.
///
/// A reset is identified by its group. Each loader announces the loaders after it. The first call to announce visits
/// them one after the other until none is left; announcements that the visited loaders make only lengthen its list.
struct ResetWalk {
    private var group: DispatchGroup
    private var known: Set<ObjectIdentifier> = []
    private var toVisit: [HTTPLoader] = []
    private var isUnderWay = false

    /// The resets that are under way.
    ///
    /// Their groups are held here, so that no new group can get the identity of one.
    private static let walks = Locked<[ObjectIdentifier: ResetWalk]>([:])

    /// Resets `loaders` with `group`, except those that this reset has already reached.
    static func go(on loaders: [HTTPLoader], with group: DispatchGroup) {
        guard announce(loaders, in: group) else { return }
        while let loader = next(in: group) { loader.reset(with: group) }
        group.leave()
    }

    /// Announces loaders, and returns whether the caller has to visit them.
    private static func announce(_ loaders: [HTTPLoader], in group: DispatchGroup) -> Bool {
        let id = ObjectIdentifier(group)
        var isNew = false
        let isToVisit = walks.withLock { walks in
            isNew = walks[id] == nil
            return walks[id, default: ResetWalk(group: group)].announce(loaders)
        }
        guard isToVisit else { return false }
        group.enter()
        if isNew {
            // The walk is forgotten only when the group is empty, so that a loader may pass the reset on late.
            group.notify(queue: .global()) { walks.withLock { $0[id] = nil } }
        }
        return true
    }

    private mutating func announce(_ loaders: [HTTPLoader]) -> Bool {
        for loader in loaders where known.insert(ObjectIdentifier(loader)).inserted { toVisit.append(loader) }
        guard !isUnderWay, !toVisit.isEmpty else { return false }
        isUnderWay = true
        return true
    }

    private static func next(in group: DispatchGroup) -> HTTPLoader? {
        walks.withLock { walks in walks[ObjectIdentifier(group)]?.next() }
    }

    private mutating func next() -> HTTPLoader? {
        guard let loader = toVisit.popLast() else {
            isUnderWay = false
            return nil
        }
        return loader
    }
}
