/// Handlers in the order of their registration, given back in the opposite one.
///
/// The first four live inside the stack, because most tasks have no more and need no allocation then.
struct HandlerStack<Handler> {
    private var first: Handler?
    private var second: Handler?
    private var third: Handler?
    private var fourth: Handler?
    private var rest: [Handler] = []

    /// Whether nothing is registered.
    var isEmpty: Bool { first == nil }

    /// Puts `handler` on top.
    @inline(__always)
    mutating func push(_ handler: Handler) {
        if first == nil {
            first = handler
        } else if second == nil {
            second = handler
        } else if third == nil {
            third = handler
        } else if fourth == nil {
            fourth = handler
        } else {
            rest.append(handler)
        }
    }

    /// Takes the topmost handler off.
    @inline(__always)
    mutating func pop() -> Handler? {
        if first == nil { return nil }
        if second == nil { return first.take() }
        if third == nil { return second.take() }
        if fourth == nil { return third.take() }
        return rest.popLast() ?? fourth.take()
    }
}

extension HandlerStack {
    /// The handlers from the first registered to the last.
    var inOrder: [Handler] {
        [first, second, third, fourth].compactMap { $0 } + rest
    }
}
