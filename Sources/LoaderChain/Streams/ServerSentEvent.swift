/// An event of a server's stream of events.
public struct ServerSentEvent: Hashable, Sendable {
    /// The type; `message` if the server named none.
    public var type: String

    /// The data: one line, or several with a line feed between them.
    public var data: String

    /// The last identifier that the server had sent by then; empty if none.
    ///
    /// It stays the same for events that follow without an identifier of their own.
    public var id: String

    /// Makes an event, as a test does.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

extension ServerSentEvent: CustomStringConvertible {
    /// The type, the identifier and the size of the data, which may be private.
    public var description: String {
        let size = "\(ASCII.printable(type)), \(data.utf8.count) bytes"
        return id.isEmpty ? size : "\(size), id \(ASCII.printable(id))"
    }
}
