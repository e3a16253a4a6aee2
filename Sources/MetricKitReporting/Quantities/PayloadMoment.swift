import LineProtocol
import LoaderChain

/// A date in a payload, with or without a time zone.
public enum PayloadMoment: Sendable, Hashable {
    /// An absolute time.
    case instant(Timestamp)
    /// The local time of the device. Payloads of later systems do not name its time zone.
    case deviceTime(Timestamp)

    /// The absolute time, if the payload names it.
    public var instant: Timestamp? { if case .instant(let time) = self { time } else { nil } }

    /// The absolute time, using the UTC offset of the device where the payload does not name one.
    ///
    /// - Parameter secondsFromGMT: the UTC offset of the device, such as `TimeZone.current.secondsFromGMT()`.
    public func instant(secondsFromGMT: Int) -> Timestamp {
        switch self {
        case .instant(let time): return time
        case .deviceTime(let time):
            let offset = Int64(min(max(secondsFromGMT, -86_400), 86_400)) * 1_000_000_000
            let (moment, overflow) = time.nanoseconds.subtractingReportingOverflow(offset)
            return overflow ? time : Timestamp(nanoseconds: moment)
        }
    }
}

extension PayloadMoment: CustomStringConvertible {
    /// Date and time, such as `2020-10-10 04:00:00 UTC`, or with `device time` at the end.
    public var description: String {
        let (time, zone) =
            switch self {
            case .instant(let time): (time, "UTC")
            case .deviceTime(let time): (time, "device time")
            }
        let seconds = time.count(in: .seconds)
        let second = ((seconds % 86_400) + 86_400) % 86_400
        let day = CalendarDay(number: Int((seconds - second) / 86_400) + MomentText.daysBefore1970)
        func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = [second / 3600, second / 60 % 60, second % 60].map { two($0) }.joined(separator: ":")
        return "\(day.year)-\(two(day.month))-\(two(day.day)) \(clock) \(zone)"
    }
}

/// The time that a payload tells of.
public struct PayloadTimeRange: Sendable, Hashable {
    /// The beginning.
    public var begin: PayloadMoment?
    /// The end; equal to the beginning if the payload is about a moment, such as one about disk space.
    public var end: PayloadMoment?

    /// Makes a range.
    public init(begin: PayloadMoment? = nil, end: PayloadMoment? = nil) {
        self.begin = begin
        self.end = end
    }
}

extension PayloadTimeRange: CustomStringConvertible {
    /// Both ends, as far as they are known.
    public var description: String {
        "\(begin.map { "\($0)" } ?? "unknown") to \(end.map { "\($0)" } ?? "unknown")"
    }
}
