import LoaderChain

// Sending: sends one batch until each of its lines is delivered, rejected or to be kept. It may use Destination.

/// A destination of points: delivers batches of lines.
///
/// ``BatchSender`` is the one for InfluxDB. To add another destination, write a type with this one method, and give ``InfluxWriter``
/// an initializer that makes a writer with it, as its two public ones do. The writer collects the points, keeps them in memory or on
/// the disk, decides when a batch is sent and when it is sent again; a sender knows nothing of that.
package protocol LineSender: Sendable {
    /// Sends a batch, in as many requests as it takes, and says what has become of its lines.
    ///
    /// Each line of the batch is in one place of the outcome: it is counted as delivered, it is rejected for good, or it is among the
    /// undelivered lines, which the writer sends again; then the outcome has an obstacle, which says how long to wait.
    ///
    /// A cancel of the Swift task stops it; what was delivered until then is in the outcome.
    func send(_ batch: LineBatch) async -> BatchOutcome
}

/// What has become of the lines of a batch: each was delivered, rejected or not delivered.
package struct BatchOutcome: Sendable, Hashable {
    /// How many lines the server has.
    package var deliveredCount = 0
    /// Lines that the server will not have, in the order of the batch.
    package var rejected: [RejectedLine] = []
    /// Lines that the server will not have, where it says no more than how many.
    package var unnamedRejections: [UnnamedRejection] = []
    /// Lines that are to be sent again, by their numbers in the batch.
    package var undelivered = LineSet()
    /// Why there are lines to be sent again; nil if there are none.
    package var obstacle: WriteObstacle?
    /// How many requests it took.
    package var requests = 0
    /// How many bytes were in the bodies of the requests, as they were sent.
    package var bytesSent = 0
    /// Whether it was found that the server cannot read compressed lines; from then on none are sent.
    package var compressionWasRefused = false

    package init() {}

    /// Leaves out a line that was sent along with others.
    ///
    /// - Returns: whether it was delivered, as far as is known.
    mutating func takeOut(_ line: String) -> Bool {
        if let place = rejected.firstIndex(where: { $0.line == line }) {
            rejected.remove(at: place)
        } else if deliveredCount > 0 {
            deliveredCount -= 1
            return true
        } else if let unnamed = unnamedRejections.popLast(), unnamed.count > 1 {
            unnamedRejections.append(UnnamedRejection(count: unnamed.count - 1, reason: unnamed.reason))
        }
        return false
    }

    /// How many lines the server will not have.
    package var rejectedCount: Int { rejected.count + unnamedRejections.reduce(0) { $0 + $1.count } }
}

/// A line that the server will not have.
public struct RejectedLine: Sendable, Hashable, CustomStringConvertible {
    /// The line, without its end.
    public let line: String
    /// What the server has against it, in its words.
    public let reason: String

    /// Makes one, as tests do.
    public init(line: String, reason: String) {
        self.line = line
        self.reason = reason
    }

    /// The reason and the line.
    public var description: String { "\(reason): \(line)" }
}

/// Lines that the server will not have and does not name.
public struct UnnamedRejection: Sendable, Hashable, CustomStringConvertible {
    /// How many there are, as far as the server says; at least one otherwise.
    public let count: Int
    /// What the server has against them, in its words.
    public let reason: String

    /// Makes one, as tests do.
    public init(count: Int, reason: String) {
        self.count = count
        self.reason = reason
    }

    /// The count and the reason.
    public var description: String { "\(count) lines: \(reason)" }
}

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
