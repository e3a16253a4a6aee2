// Sending: sends one batch until each of its lines is delivered, rejected or to be kept. It may use Destination and Compression.

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
