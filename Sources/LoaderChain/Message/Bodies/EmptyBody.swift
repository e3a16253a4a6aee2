/// A body of no bytes, the default of a request.
public struct EmptyBody: HTTPBody {
    /// Makes an empty body.
    public init() {}

    /// True.
    public var isEmpty: Bool { true }

    /// No bytes.
    public func encode() -> HTTPBodyContent { .empty }
}
