/// Why an exchange was stopped on this side.
package enum StopReason: Sendable {
    case cancelled
    /// Nothing was sent or received for too long.
    case timedOut(Duration)
    /// The whole took longer than the configuration allows.
    case tookTooLong(Duration)
    /// The body could not be stored.
    case refused(SinkError)
    /// The connection broke, and the session cannot send the body again.
    case bodyNeededAgain
    /// The reader of the chunks is gone.
    case readerLeft
    /// Another head arrived after the first had been delivered.
    case secondHead

    /// The kind of error that the task ends with, and why.
    ///
    /// - Parameter setting: the name of the terminal's limit for the whole.
    package func explanation(limitOfTheWhole setting: String) -> (code: HTTPError.Code, reason: String?) {
        switch self {
        case .cancelled, .readerLeft:
            (.cancelled, nil)
        case .timedOut(let time):
            (.timedOut, "Nothing was sent or received in time; the request ended after \(time)")
        case .tookTooLong(let time):
            (
                .timedOut,
                "The request took longer than the configuration allows in all, and ended after \(time); "
                    + "raise \(setting)"
            )
        case .bodyNeededAgain:
            (.connectionLost, "The connection closed, and the session cannot send the body again")
        case .secondHead:
            (
                .invalidResponse,
                "Another response followed the one that was delivered; a proxy may have answered CONNECT with a body's type"
            )
        case .refused(.tooLarge(let announced, let limit)):
            (
                .responseTooLarge,
                "The body has \(announced.map { "\($0)" } ?? "more") bytes, and the limit is \(limit); raise the limit, "
                    + "or have the body delivered in a file or in chunks"
            )
        case .refused(.storage(let reason)):
            (.cannotStoreResponse, reason)
        }
    }
}
