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

/// Reads dates such as `2020-10-10 04:00:00 +0000` and `2023-02-01 00:00:00`.
///
/// A device may use another calendar, which the text does not name. No such calendar in use has a current year in the range
/// that is accepted here, so any other year is not understood.
enum MomentText {
    private static let years = 2014...2199
    /// The number that a calendar day has for 1 January 1970.
    static let daysBefore1970 = 719_528

    static func moment(_ text: String) -> PayloadMoment? {
        // Longer than any date.
        guard text.utf8.count <= 100 else { return nil }
        var scanner = Scanner(text)
        guard let year = scanner.number(digits: 4), years.contains(year), scanner.take("-"),
            let month = scanner.number(digits: 2), scanner.take("-"), let day = scanner.number(digits: 2),
            scanner.take("T") || scanner.take(" "),
            let day = CalendarDay(year: year, month: month, day: day),
            let clock = scanner.clock()
        else { return nil }
        let local = Int64(day.number - daysBefore1970) * 86_400 + Int64(clock.seconds)
        func time(_ offset: Int) -> Timestamp {
            .nanoseconds((local - Int64(offset)) * 1_000_000_000 + clock.nanoseconds)
        }
        _ = scanner.take(" ")
        if scanner.isAtEnd { return .deviceTime(time(0)) }
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        return .instant(time(offset))
    }

    /// Reads seconds since the beginning of 2001.
    static func moment(secondsSince2001 number: DecimalNumber) -> PayloadMoment? {
        let secondsBefore2001: Int128 = 978_307_200
        guard let nanoseconds = number.scaled(by: 9)?.nearestInteger, abs(nanoseconds) < 1 << 62,
            let sinceEpoch = Int64(exactly: nanoseconds + secondsBefore2001 * 1_000_000_000),
            years.contains(1970 + Int(sinceEpoch / 1_000_000_000 / 31_556_952))
        else { return nil }
        return .instant(.nanoseconds(sinceEpoch))
    }

    private struct Scanner {
        private var rest: ArraySlice<Unicode.Scalar>

        init(_ text: String) {
            // Digits and spaces of every script become ASCII.
            rest = ArraySlice(
                text.unicodeScalars.map { scalar in
                    if scalar.isASCII { return scalar }
                    if scalar.properties.isWhitespace { return " " }
                    guard scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue,
                        let digit = Unicode.Scalar(0x30 + UInt32(value))
                    else { return scalar }
                    return digit
                })
        }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard rest.first == scalar else { return false }
            rest.removeFirst()
            return true
        }

        mutating func number(digits: ClosedRange<Int>) -> (value: Int, count: Int)? {
            var (value, count) = (0, 0)
            while count < digits.upperBound, let scalar = rest.first, "0"..."9" ~= scalar {
                value = value * 10 + Int(scalar.value - 0x30)
                count += 1
                rest.removeFirst()
            }
            return digits.contains(count) ? (value, count) : nil
        }

        mutating func number(digits: Int) -> Int? { number(digits: digits...digits)?.value }

        mutating func clock() -> (seconds: Int, nanoseconds: Int64)? {
            guard let (hour, _) = number(digits: 1...2), take(":"), let minute = number(digits: 2), minute < 60,
                take(":"), let second = number(digits: 2), second < 60
            else { return nil }
            var nanoseconds: Int64 = 0
            if take(".") {
                guard let (fraction, count) = number(digits: 1...9) else { return nil }
                nanoseconds = (count..<9).reduce(Int64(fraction)) { number, _ in number * 10 }
            }
            guard let hour = wholeHour(hour) else { return nil }
            return (hour * 3600 + minute * 60 + second, nanoseconds)
        }

        /// The hour of the day, using the AM or PM that follows.
        private mutating func wholeHour(_ hour: Int) -> Int? {
            let before = rest
            _ = take(" ")
            for (letter, first) in [("A" as Unicode.Scalar, 0), ("P", 12)] where take(letter) {
                guard take("M"), 1...12 ~= hour else { return nil }
                return hour % 12 + first
            }
            rest = before
            return hour < 24 ? hour : nil
        }

        /// The UTC offset of a zone such as `+0530`, `-03:00` or `Z`, in seconds.
        mutating func zone() -> Int? {
            if take("Z") { return 0 }
            let isAhead = take("+")
            guard isAhead || take("-") || take("\u{2212}"), let hours = number(digits: 2), hours < 24 else {
                return nil
            }
            _ = take(":")
            guard let minutes = number(digits: 2), minutes < 60 else { return nil }
            return (isAhead ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
    }
}
