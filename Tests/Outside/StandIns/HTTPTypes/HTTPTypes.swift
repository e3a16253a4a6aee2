// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridges use of swift-http-types. Nothing runs.

public struct HTTPField: Sendable {
    public struct Name: Sendable {
        public let rawName: String
        public init?(_ name: String) { rawName = name }
    }
    public var name: Name
    public var value: String
    public init(name: Name, value: String) { (self.name, self.value) = (name, value) }
}

public struct HTTPFields: Sendable, RangeReplaceableCollection {
    private var fields: [HTTPField] = []
    public init() {}
    public var startIndex: Int { fields.startIndex }
    public var endIndex: Int { fields.endIndex }
    public func index(after index: Int) -> Int { index + 1 }
    public subscript(position: Int) -> HTTPField { fields[position] }
    public mutating func replaceSubrange<Elements: Collection>(_ range: Range<Int>, with elements: Elements)
    where Elements.Element == HTTPField {
        fields.replaceSubrange(range, with: elements)
    }
}

public struct HTTPRequest: Sendable {
    public struct Method: Sendable {
        public let rawValue: String
        public init?(_ method: String) { rawValue = method }
    }
    public var method: Method
    public var scheme: String?
    public var authority: String?
    public var path: String?
    public var headerFields: HTTPFields
    public init(
        method: Method, scheme: String?, authority: String?, path: String?, headerFields: HTTPFields = HTTPFields()
    ) {
        (self.method, self.scheme, self.authority, self.path) = (method, scheme, authority, path)
        self.headerFields = headerFields
    }
}

public struct HTTPResponse: Sendable {
    public struct Status: Sendable {
        public let code: Int
        public init(code: Int, reasonPhrase: String = "") { self.code = code }
    }
    public var status: Status
    public var headerFields: HTTPFields
    public init(status: Status, headerFields: HTTPFields = HTTPFields()) {
        (self.status, self.headerFields) = (status, headerFields)
    }
}
