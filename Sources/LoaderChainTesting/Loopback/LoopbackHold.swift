/// A reply of a ``LoopbackServer`` that waits to be released.
public struct LoopbackHold: Sendable {
    /// The request that the reply is for.
    public let request: LoopbackRequest
    let number: Int
    let core: LoopbackCore

    /// Lets the reply go on.
    ///
    /// Releasing it again does nothing.
    public func release() {
        core.release { $0.number == number }
    }
}
