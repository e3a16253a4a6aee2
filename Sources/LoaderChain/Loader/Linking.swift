precedencegroup LoaderLinking {
    associativity: right
    higherThan: NilCoalescingPrecedence
}

infix operator --> : LoaderLinking

/// Links two loaders, or two chains, and returns the first.
///
/// ```swift
/// let chain = resetGuard --> throttle --> retry --> urlSessionLoader
/// ```
///
/// The left side may be a chain: the right side is appended after its last loader. Several chains may share their last
/// loaders. A link that would close a circle stops the program, and so does a link behind a terminal.
@discardableResult
public func --> (chain: HTTPLoader, next: HTTPLoader) -> HTTPLoader {
    chain.tail.nextLoader = next
    return chain
}

/// Links two loaders, the second of which may be nil.
///
/// ```swift
/// let chain = throttle --> (isDebugging ? MyLoader() : nil) --> terminal
/// ```
@discardableResult
public func --> (chain: HTTPLoader, next: HTTPLoader?) -> HTTPLoader {
    if let next { chain.tail.nextLoader = next }
    return chain
}

/// Links two loaders, the first of which may be nil.
@discardableResult
public func --> (chain: HTTPLoader?, next: HTTPLoader) -> HTTPLoader {
    guard let chain else { return next }
    return chain --> next
}

/// Links two loaders, both of which may be nil.
@discardableResult
@_disfavoredOverload  // The other overloads fit better where one side is not optional.
public func --> (chain: HTTPLoader?, next: HTTPLoader?) -> HTTPLoader? {
    guard let chain else { return next }
    return chain --> next
}
