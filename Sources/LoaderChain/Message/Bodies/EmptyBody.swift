/// A body of no bytes, which every request begins with.
public struct EmptyBody: HTTPBody {
    /// The body of no bytes.
    public init() {}

    /// True.
    public var isEmpty: Bool { true }

    /// No bytes.
    public func encode() -> HTTPBodyContent { .empty }
}
