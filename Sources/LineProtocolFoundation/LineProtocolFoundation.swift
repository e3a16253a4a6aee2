import LineProtocol
import LoaderChainPlatformFoundation

extension Timestamp {
    /// Makes a timestamp from a date.
    ///
    /// A date counts seconds in a double, which near the present resolves a tenth of a microsecond; parts of a nanosecond
    /// are cut off, towards the past. Dates beyond what nanoseconds can count become the earliest or the latest of them, and
    /// a date that is no number becomes the earliest; the encoder treats all of these as ``LineProblem/timeOutOfRange``.
    public init(_ date: Date) {
        // Apart, so that the fraction keeps all the bits that the date has.
        let reference = date.timeIntervalSinceReferenceDate
        let whole = reference.rounded(.down)
        let fraction = ((reference - whole) * 1e9).rounded(.down)
        let limit = 1e18
        guard abs(whole) < limit else {
            self.init(nanoseconds: whole > 0 ? .max : .min)
            return
        }
        let sinceEpoch = Int64(whole) + Int64(Date.timeIntervalBetween1970AndReferenceDate)
        self.init(.seconds(sinceEpoch) + .nanoseconds(Int64(fraction)))
    }
}

extension Date {
    /// The date of a timestamp, as near as a date comes to it.
    public init(_ timestamp: Timestamp) {
        let (seconds, nanoseconds) = timestamp.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let sinceReference = Double(seconds) - Date.timeIntervalBetween1970AndReferenceDate
        self.init(timeIntervalSinceReferenceDate: sinceReference + Double(nanoseconds) / 1e9)
    }
}

extension LineDecodingError: LocalizedError {
    /// The place and the reason.
    public var errorDescription: String? { description }
}

extension LineEncodingError: LocalizedError {
    /// The part and the reason.
    public var errorDescription: String? { description }
}
