import LoaderChain

/// Why lines could not be delivered, for a reason other than the lines themselves.
///
/// They are kept, and sent again.
public enum WriteObstacle: Sendable, Hashable {
    /// No usable answer came: the server was not reached, the connection was lost, or time ran out.
    case offline(reason: String)
    /// The server, or a loader of the chain on its behalf, asks for patience.
    ///
    /// The delay is what the server asked for, and nil if it named none.
    case busy(after: Duration?, reason: String)
    /// The server does not let the writer in, has no such database, or takes no line at all.
    ///
    /// Waiting does not help: something has to be changed first.
    case refused(HTTPStatus?, reason: String)
    /// Something else than such a server answered, such as the login page of a network.
    case unexpectedAnswer(HTTPStatus?, reason: String)
    /// The sending was cancelled, or the chain was reset.
    case interrupted
    /// The server refuses requests for lines that it does not name, and for this time enough was sent to find them.
    ///
    /// What was found is settled. It goes on with the rest the next time.
    case unsettled(reason: String)
}

extension WriteObstacle: CustomStringConvertible {
    /// A sentence on what is in the way.
    public var description: String {
        switch self {
        case .offline(let reason): "No usable answer came: \(reason)"
        case .busy(let delay?, let reason): "The server asks for patience of \(delay): \(reason)"
        case .busy(nil, let reason): "The server asks for patience: \(reason)"
        case .refused(let status, let reason): "The server refuses: \(Self.text(status))\(reason)"
        case .unexpectedAnswer(let status, let reason):
            "The answer is not one of a database: \(Self.text(status))\(reason)"
        case .interrupted: "The sending was interrupted"
        case .unsettled(let reason): "The server refuses some lines and does not say which: \(reason)"
        }
    }

    private static func text(_ status: HTTPStatus?) -> String { status.map { "\($0), " } ?? "" }
}
