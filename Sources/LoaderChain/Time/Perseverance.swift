/// Whether and when a transfer goes on after a failure: not after too many in a row, which bytes that are new end.
struct Perseverance: Sendable {
    private let attempts: Int
    private let pacing: Pacing
    private var failures = 0
    /// The most bytes that there were.
    private var most: Int64 = 0

    /// Begins without a failure.
    ///
    /// - Parameter attempts: after how many failures in a row to give up; at least one.
    init(attempts: Int, pacing: Pacing) {
        self.attempts = max(1, attempts)
        self.pacing = pacing
    }

    /// Notes how many bytes there are before the first attempt.
    mutating func begin(at count: Int64) { most = count }

    /// Notes a failure.
    ///
    /// - Parameters:
    ///   - count: how many bytes there are.
    ///   - asked: how long the server asks to wait.
    ///   - roll: chance, from 0 up to 1.
    /// - Returns: how long to wait before the next attempt; nil to give up.
    mutating func takeFailure(at count: Int64, asked: Duration, roll: Double) -> Duration? {
        noteProgress(count)
        failures += 1
        guard failures < attempts else { return nil }
        // It has few attempts, which are not to be over before a server that asks for short waits is well.
        return max(pacing.delay(afterFailures: failures, roll: roll), pacing.granted(asked))
    }

    /// Notes an attempt that has not failed, which may have brought nothing new.
    ///
    /// - Returns: false to give up, because such attempts lead nowhere.
    mutating func takeStep(at count: Int64) -> Bool {
        if noteProgress(count) { return true }
        failures += 1
        return failures < attempts
    }

    /// Begins the count anew if there are more bytes than ever; returns whether there are.
    @discardableResult
    private mutating func noteProgress(_ count: Int64) -> Bool {
        guard count > most else { return false }
        (most, failures) = (count, 0)
        return true
    }
}
