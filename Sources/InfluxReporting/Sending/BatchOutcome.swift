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

    /// How many lines the server will not have.
    package var rejectedCount: Int { rejected.count + unnamedRejections.reduce(0) { $0 + $1.count } }
}
