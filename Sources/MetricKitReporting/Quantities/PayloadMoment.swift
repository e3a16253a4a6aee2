import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// A date in a payload, with or without a time zone.
public enum PayloadMoment: Sendable, Hashable {
    /// An absolute time.
    case instant(Timestamp)
    /// The local time of the device. Payloads of later systems do not contain the time zone.
    case deviceTime(Timestamp)

    /// The absolute time, if the payload contains the time zone.
    public var instant: Timestamp? { if case .instant(let time) = self { time } else { nil } }

    /// Returns the absolute time, using the given UTC offset if the payload does not contain the time zone.
    ///
    /// - Parameter secondsFromGMT: the UTC offset of the device, such as `TimeZone.current.secondsFromGMT()`.
    public func instant(secondsFromGMT: Int) -> Timestamp {
        switch self {
        case .instant(let time): return time
        case .deviceTime(let time):
            let offset = Int64(min(max(secondsFromGMT, -86_400), 86_400)) * 1_000_000_000
            return Timestamp(nanoseconds: time.nanoseconds.addingClamped(-offset))
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
        let seconds = Double(time.count(in: .seconds))
        let form = Date.ISO8601FormatStyle().year().month().day().dateTimeSeparator(.space)
        return "\(Date(timeIntervalSince1970: seconds).formatted(form.time(includingFractionalSeconds: false))) \(zone)"
    }
}

/// The period that a payload covers.
public struct PayloadTimeRange: Sendable, Hashable {
    /// The beginning.
    public var begin: PayloadMoment?
    /// The end; equal to the beginning for a single moment, as in a payload about disk space.
    public var end: PayloadMoment?

    /// Creates a range.
    public init(begin: PayloadMoment? = nil, end: PayloadMoment? = nil) {
        self.begin = begin
        self.end = end
    }
}

extension PayloadTimeRange: CustomStringConvertible {
    /// The begin and the end, or `unknown`.
    public var description: String {
        "\(begin.map { "\($0)" } ?? "unknown") to \(end.map { "\($0)" } ?? "unknown")"
    }
}

/// Parses dates such as `2020-10-10 04:00:00 +0000` and `2023-02-01 00:00:00`.
///
/// A device may use another calendar, which the text does not name. The range of years excludes those of other calendars but the
/// Ethiopic one, whose dates are read seven or eight years too early.
enum MomentText {
    private static let years = 2014...2075
    /// The day number of 1 January 1970 in `CalendarDay`.
    static let daysBefore1970 = 719_528

    static func moment(_ text: String) -> PayloadMoment? {
        let form =
            #/
            (?<year>[0-9]{4}) - (?<month>[0-9]{2}) - (?<day>[0-9]{2}) [T\ ]
            (?<hour>[0-9]{1,2}) : (?<minute>[0-5][0-9]) : (?<second>[0-5][0-9]) (?: \. (?<fraction>[0-9]{1,9}) )?
            (?: \ ? (?<half>AM|PM) )? \ ?
            (?<zone> Z | (?<sign>[+\-\u{2212}]) (?<zoneHours>[0-9]{2}) :? (?<zoneMinutes>[0-5][0-9]) )?
            /#
        // Longer than any date.
        guard text.utf8.count <= 100, let found = try? form.wholeMatch(in: plain(text)),
            let year = Int(found.year), years.contains(year), let month = Int(found.month), let day = Int(found.day),
            let day = CalendarDay(year: year, month: month, day: day),
            let hour = Int(found.hour).flatMap({ wholeHour($0, found.half) }),
            let minute = Int(found.minute), let second = Int(found.second),
            let zoneHours = Int(found.zoneHours ?? "0"), zoneHours < 24, let zoneMinutes = Int(found.zoneMinutes ?? "0")
        else { return nil }
        let local = Int64(day.number - daysBefore1970) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        let offset = Int64(zoneHours * 3_600 + zoneMinutes * 60) * (found.sign == "+" ? 1 : -1)
        let fraction = found.fraction.map { $0 + String(repeating: "0", count: 9 - $0.count) }
        let time = Timestamp.nanoseconds((local - offset) * 1_000_000_000 + (fraction.flatMap { Int64($0) } ?? 0))
        return found.zone == nil ? .deviceTime(time) : .instant(time)
    }

    /// The hour of the day, with AM or PM applied.
    private static func wholeHour(_ hour: Int, _ half: Substring?) -> Int? {
        guard let half else { return hour < 24 ? hour : nil }
        return 1...12 ~= hour ? hour % 12 + (half == "PM" ? 12 : 0) : nil
    }

    /// The text with the digits and spaces of all scripts replaced by those of ASCII.
    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    if scalar.isASCII { return scalar }
                    if scalar.properties.isWhitespace { return " " }
                    return LocalizedNumber.digit(scalar).flatMap { Unicode.Scalar(0x30 + UInt32($0)) } ?? scalar
                }))
    }

    static func moment(secondsSince2001 number: DecimalNumber) -> PayloadMoment? {
        let secondsBefore2001: Int128 = 978_307_200
        guard let nanoseconds = number.scaled(by: 9)?.nearestInteger, abs(nanoseconds) < 1 << 62,
            let sinceEpoch = Int64(exactly: nanoseconds + secondsBefore2001 * 1_000_000_000),
            years.contains(1970 + Int(sinceEpoch / 1_000_000_000 / 31_556_952))
        else { return nil }
        return .instant(.nanoseconds(sinceEpoch))
    }
}
