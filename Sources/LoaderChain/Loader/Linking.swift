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
/// The left side may be a chain: the right side is appended after its last loader. Several chains may share their last loaders.
/// A link that would close a circle, or a link behind a terminal, stops the program.
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
@_disfavoredOverload  // The other overloads fit better if one side is not optional.
public func --> (chain: HTTPLoader?, next: HTTPLoader?) -> HTTPLoader? {
    guard let chain else { return next }
    return chain --> next
}

// MARK: - The end of branches

/// The end of a composite's branches, from which tasks go on to the loader after the composite.
///
/// A loader that leads tasks down chains of its own ends each of them here, so that they return to the chain that the
/// loader is part of:
///
/// ```swift
/// final class OnlyWithABody: HTTPLoader, @unchecked Sendable {
///     private let branch: HTTPLoader
///     private let end = BranchEnd(of: "OnlyWithABody")
///
///     init(_ branch: HTTPLoader) {
///         self.branch = branch --> end
///         super.init()
///     }
///
///     override var branches: [HTTPLoader] { [branch] }
///     override var details: String { branch.description(before: end) }
///     override func didLink(to next: HTTPLoader) { end.nextLoader = next }
///
///     override func load(task: HTTPTask) {
///         guard !task.request.body.isEmpty else { return super.load(task: task) }
///         if branch.accept(task) { branch.load(task: task) }
///     }
/// }
/// ```
///
/// ``Choose`` is such a loader. The composite links the end of its branches in ``HTTPLoader/didLink(to:)``. It cannot pass
/// tasks back to itself instead: a branch that refers to its composite would be a circle.
public final class BranchEnd: HTTPLoader, @unchecked Sendable {
    private let composite: String

    /// Makes the end of the branches of a composite, under whose name it passes tasks on.
    public init(of composite: String) {
        self.composite = composite
        super.init()
    }

    public override var name: String { composite }
}
