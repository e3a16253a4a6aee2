import LineProtocol
import LoaderChainPlatformFoundation

// What LineProtocol lacks because it does not import Foundation.

extension Timestamp {
    /// Creates a timestamp from a date.
    ///
    /// A date counts seconds in a double, whose resolution is about a tenth of a microsecond today; fractions of a nanosecond are
    /// rounded down. Dates out of range are clamped, and a date that is not a number becomes the earliest timestamp; the encoder
    /// counts these as `LineProblem.timeOutOfRange`.
    public init(_ date: Date) {
        // Whole seconds and fraction are separate, so that the fraction keeps all bits of the date.
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
    /// Creates the date of a timestamp, with the precision of a date.
    public init(_ timestamp: Timestamp) {
        let (seconds, nanoseconds) = timestamp.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let sinceReference = Double(seconds) - Date.timeIntervalBetween1970AndReferenceDate
        self.init(timeIntervalSinceReferenceDate: sinceReference + Double(nanoseconds) / 1e9)
    }
}

extension LineDecodingError: LocalizedError {
    /// The position and the reason.
    public var errorDescription: String? { description }
}
