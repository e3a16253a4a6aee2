extension FlushReport {
    /// Why points are still held.
    public enum KeepCause: Sendable, Hashable {
        /// Something is in the way of delivering them.
        case obstacle(WriteObstacle)
        /// The time limit was reached.
        case deadline
        /// The Swift task that waited was cancelled.
        case cancelled
    }
}
