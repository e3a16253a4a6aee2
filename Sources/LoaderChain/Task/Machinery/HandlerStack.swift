/// Handlers in the order of their registration, popped in the reverse order.
///
/// The first four are stored inline: most tasks have no more, and so need no allocation.
struct HandlerStack: Sendable {
    private var first: TaskHandler?
    private var second: TaskHandler?
    private var third: TaskHandler?
    private var fourth: TaskHandler?
    private var rest: [TaskHandler]?

    init() {}

    /// Makes a stack of handlers, the last one on top.
    init(_ handlers: some Sequence<TaskHandler>) {
        for handler in handlers { push(handler) }
    }

    /// Whether no handler is registered.
    var isEmpty: Bool { first == nil }

    /// Puts `handler` on top.
    @inline(__always)
    mutating func push(_ handler: TaskHandler) {
        if first == nil {
            first = handler
        } else if second == nil {
            second = handler
        } else if third == nil {
            third = handler
        } else if fourth == nil {
            fourth = handler
        } else {
            pushOnRest(handler)
        }
    }

    @inline(never)
    private mutating func pushOnRest(_ handler: TaskHandler) {
        // The array is taken out, so that it grows in place.
        var grown = rest.take() ?? []
        grown.append(handler)
        rest = grown
    }

    /// Inserts `handler` above the lowest `count` handlers and below all others.
    @inline(never)
    mutating func insert(_ handler: TaskHandler, above count: Int) {
        var all = inOrder
        all.insert(handler, at: count)
        self = HandlerStack(all)
    }

    /// Removes the topmost handler and returns it.
    @inline(__always)
    mutating func pop() -> TaskHandler? {
        if first == nil { return nil }
        if second == nil { return first.take() }
        if third == nil { return second.take() }
        if fourth == nil { return third.take() }
        return rest?.popLast() ?? fourth.take()
    }
}

extension HandlerStack {
    /// The handlers from the first registered to the last.
    var inOrder: [TaskHandler] {
        [first, second, third, fourth].compactMap { $0 } + (rest ?? [])
    }

    /// The handlers that match, in the same order.
    @inline(__always)
    func only(_ isIncluded: (TaskHandler) -> Bool) -> HandlerStack {
        var included = HandlerStack()
        if let first, isIncluded(first) { included.push(first) }
        if let second, isIncluded(second) { included.push(second) }
        if let third, isIncluded(third) { included.push(third) }
        if let fourth, isIncluded(fourth) { included.push(fourth) }
        if let rest { for handler in rest where isIncluded(handler) { included.push(handler) } }
        return included
    }

    /// Whether all handlers match.
    @inline(__always)
    func allSatisfy(_ predicate: (TaskHandler) -> Bool) -> Bool {
        first.map(predicate) ?? true && second.map(predicate) ?? true && third.map(predicate) ?? true
            && fourth.map(predicate) ?? true && rest?.allSatisfy(predicate) ?? true
    }
}
