import LoaderChain

// Sending: sends one batch, and determines for each line whether it is delivered, rejected or undelivered. It may use Destination.

/// A destination of points: delivers batches of lines.
///
/// ``BatchSender`` is the sender for InfluxDB. To add another destination, write a type with this method, and give ``InfluxWriter``
/// an initializer that creates a writer with it, as its two public initializers do. The writer collects the points, stores them in
/// memory or on the disk, and decides when a batch is sent and sent again; a sender only sends.
package protocol LineSender: Sendable {
    /// Sends a batch, in any number of requests, and returns the outcome of its lines.
    ///
    /// Each line of the batch is in one part of the outcome: it is counted as delivered, it is rejected for good, or it is among
    /// the undelivered lines, which the writer sends again. If there are undelivered lines, the outcome has a failure, which says
    /// how long to wait.
    ///
    /// Cancelling the Swift task stops the sending; lines delivered until then are in the outcome.
    func send(_ batch: LineBatch) async -> BatchOutcome
}

/// The outcome of a batch: each line was delivered, rejected or not delivered.
package struct BatchOutcome: Sendable, Hashable {
    /// The number of lines that the server has stored.
    package var deliveredCount = 0
    /// The lines that the server rejected, in the order of the batch.
    package var rejected: [RejectedLine] = []
    /// The rejections for which the server gave only a number of lines.
    package var unnamedRejections: [UnnamedRejection] = []
    /// The lines to send again, by their numbers in the batch.
    package var undelivered = LineSet()
    /// The reason why lines are undelivered; nil if none are.
    package var failure: DeliveryFailure?
    package var requests = 0
    /// The number of bytes in the bodies of the requests, after compression.
    package var bytesSent = 0
    /// Whether this batch revealed that the server cannot read compressed lines; later batches are not compressed.
    package var compressionWasRefused = false

    package init() {}

    /// Removes a line that was added to the batch from the counts; returns whether the line was delivered, as far as is known.
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

    package var rejectedCount: Int { rejected.count + unnamedRejections.reduce(0) { $0 + $1.count } }
}

/// A line that the server rejected.
public struct RejectedLine: Sendable, Hashable, CustomStringConvertible {
    /// The line, without its newline.
    public let line: String
    /// The server's message about the line.
    public let reason: String

    /// Creates a rejected line, for tests of code that handles rejections.
    public init(line: String, reason: String) {
        self.line = line
        self.reason = reason
    }

    /// The reason and the line.
    public var description: String { "\(reason): \(line)" }
}

/// Lines that the server rejected without identifying them.
package struct UnnamedRejection: Sendable, Hashable {
    /// The number of lines; at least 1.
    let count: Int
    let reason: String

    package init(count: Int, reason: String) {
        self.count = count
        self.reason = reason
    }
}

/// The reason why a batch could not be delivered, if it is not the lines themselves.
///
/// The lines stay pending, and are sent again.
public enum DeliveryFailure: Sendable, Hashable {
    /// There was no usable response: the server was not reached, the connection was lost, or the time ran out.
    case offline(reason: String)
    /// The server is overloaded or temporarily unavailable, or a loader of the chain holds requests back.
    ///
    /// The delay is the one that the server asked for; nil if it asked for none.
    case busy(after: Duration?, reason: String)
    /// The server does not accept the credentials, does not have the database, or rejects every line.
    ///
    /// Waiting does not help: somebody has to fix the cause.
    case refused(HTTPStatus?, reason: String)
    /// The response is not that of a database; for example, it is the login page of a network.
    case unexpectedAnswer(HTTPStatus?, reason: String)
    /// The sending was cancelled, or the chain was reset.
    case interrupted
    /// The server rejects requests because of lines that it does not identify, and the limit of requests to find them was reached.
    ///
    /// The lines found so far are settled. The search continues with the next attempt.
    case unsettled(reason: String)
}

extension DeliveryFailure: CustomStringConvertible {
    /// A sentence that describes the failure.
    public var description: String {
        switch self {
        case .offline(let reason): "There was no usable response: \(reason)"
        case .busy(let delay?, let reason): "The server is busy and asked to wait \(delay): \(reason)"
        case .busy(nil, let reason): "The server is busy: \(reason)"
        case .refused(let status, let reason): "The server refuses to store points: \(Self.text(status))\(reason)"
        case .unexpectedAnswer(let status, let reason):
            "The response is not that of a database: \(Self.text(status))\(reason)"
        case .interrupted: "The sending was interrupted"
        case .unsettled(let reason): "The server rejects some lines without identifying them: \(reason)"
        }
    }

    private static func text(_ status: HTTPStatus?) -> String { status.map { "\($0), " } ?? "" }
}
