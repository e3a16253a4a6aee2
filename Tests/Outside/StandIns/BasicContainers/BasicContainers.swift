// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to the HTTP API proposal uses of swift-collections. Nothing runs.

public struct UniqueArray<Element>: ~Copyable {
    public init() {}
    public var span: Span<Element> {
        @_lifetime(borrow self) get { fatalError() }
    }
}
