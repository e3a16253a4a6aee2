/// The resets that are running, by their first loader, and the callers that wait for them, decided without threads.
///
/// A walk is *over* from the moment when its last loader has finished. The call that ends it comes later, on another
/// thread. What joins a reset in between would be told of a success that is older than its call: a reset of its own
/// begins then, and the callers of the one that is over are told by it.
struct ResetBook<Walk: AnyObject, Caller: AnyObject> {
    private var entries: [ObjectIdentifier: (walk: Walk, callers: [Caller])] = [:]

    /// Whether no reset is running.
    var isEmpty: Bool { entries.isEmpty }

    /// The walk that is running, or is over and has not been ended.
    func walk(at loader: ObjectIdentifier) -> Walk? { entries[loader]?.walk }

    /// Adds a caller to the reset that is running, or begins the new one.
    ///
    /// - Parameter finished: the walk that the caller has found to be over, if it has.
    /// - Returns: whether the new one is to begin, and the callers of the one that is over.
    mutating func join(
        _ caller: Caller, at loader: ObjectIdentifier, orBegin walk: Walk, insteadOf finished: Walk?
    ) -> (begins: Bool, told: [Caller]) {
        if let running = entries[loader]?.walk, running !== finished {
            entries[loader]?.callers.append(caller)
            return (false, [])
        }
        let old = entries.updateValue((walk, [caller]), forKey: loader)
        return (true, old?.callers ?? [])
    }

    /// Removes a caller that no longer waits; nil if it has been told.
    ///
    /// - Returns: the walk, and whether it was the last caller, so that the walk is to be given up.
    mutating func leave(_ caller: Caller, at loader: ObjectIdentifier) -> (walk: Walk, isLast: Bool)? {
        guard let (walk, callers) = entries[loader], let index = callers.firstIndex(where: { $0 === caller }) else {
            return nil
        }
        entries[loader]?.callers.remove(at: index)
        if callers.count == 1 { entries[loader] = nil }
        return (walk, callers.count == 1)
    }

    /// Removes all callers of a walk that has ended, and returns them.
    mutating func end(_ walk: Walk, at loader: ObjectIdentifier) -> [Caller] {
        guard entries[loader]?.walk === walk else { return [] }
        return entries.removeValue(forKey: loader)?.callers ?? []
    }
}
