/// A reply of a ``LoopbackServer`` that waits to be released.
public struct LoopbackHold: Sendable {
    /// The request that the reply is for.
    public let request: LoopbackRequest
    let number: Int
    let core: LoopbackCore

    /// Releases the reply, so that the server continues to send it.
    ///
    /// Calling this again has no effect.
    public func release() { core.release { $0.number == number } }
}
