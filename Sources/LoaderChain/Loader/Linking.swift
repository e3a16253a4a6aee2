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
/// The left side may be a chain already: the right one is appended after its last loader. Several chains may share a tail.
/// A link that would close a circle stops the program.
@discardableResult
public func --> (chain: HTTPLoader, next: HTTPLoader) -> HTTPLoader {
    chain.tail.nextLoader = next
    return chain
}

/// Links two loaders, of which the second may be left out.
///
/// ```swift
/// let chain = throttle --> (isDebugging ? MyLoader() : nil) --> terminal
/// ```
@discardableResult
public func --> (chain: HTTPLoader, next: HTTPLoader?) -> HTTPLoader {
    if let next { chain.tail.nextLoader = next }
    return chain
}

/// Links two loaders, of which the first may be left out.
@discardableResult
public func --> (chain: HTTPLoader?, next: HTTPLoader) -> HTTPLoader {
    guard let chain else { return next }
    return chain --> next
}

/// Links two loaders, of which both may be left out.
@discardableResult
@_disfavoredOverload  // The others fit better wherever one side is certain.
public func --> (chain: HTTPLoader?, next: HTTPLoader?) -> HTTPLoader? {
    guard let chain else { return next }
    return chain --> next
}
