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
