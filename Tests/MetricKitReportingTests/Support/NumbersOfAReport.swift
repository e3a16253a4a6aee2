import Foundation
import LineProtocol
import LoaderChain

@testable import MetricKitReporting

/// The digits of a number, without zeros at both ends: they are the same in all units that differ by powers of ten.
private func significant(_ digits: some StringProtocol) -> String {
    var inner = Substring(digits).utf8
    while inner.first == UInt8(ascii: "0") { inner.removeFirst() }
    while inner.last == UInt8(ascii: "0") { inner.removeLast() }
    return String(Substring(inner))
}

/// The digits of all numbers anywhere in a payload, found without interpreting them.
struct GivenNumbers {
    private var digits: Set<String> = [""]
    private var texts: [String] = []

    init(_ node: JSONNode) {
        add(node)
        // Counts of equal buckets are added.
        let counts = digits.compactMap { Int($0) }.filter { $0 < 1_000 }
        let sums = Set(counts.flatMap { first in counts.map { first + $0 } })
        digits.formUnion(sums.map { significant("\($0)") })
        // Minutes and hours become seconds.
        for number in digits.compactMap({ Int128($0) }) where number < 1 << 100 {
            digits.formUnion([60 as Int128, 3_600].map { significant("\(number * $0)") })
        }
    }

    private mutating func add(_ node: JSONNode) {
        node.elements.forEach { add($0) }
        node.members.forEach { add($0.value) }
        if let text = node.text {
            let plain = text.unicodeScalars.compactMap { scalar -> Character? in
                guard scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue else {
                    return nil
                }
                return "\(Int(value))".first
            }
            digits.insert(significant(String(plain)))
            texts.append(String(plain))
        } else if node.kind == .number {
            let text = String(decoding: node.bytes, as: UTF8.self)
            let mantissa = text.lowercased().split(separator: "e", omittingEmptySubsequences: false)[0]
            digits.insert(significant(mantissa.filter(\.isNumber)))
            // Minutes and hours are converted to seconds.
            if let nearest = Double(text) { digits.insert(significant(ReadNumbers.digits(of: nearest))) }
        }
    }

    func contains(_ number: ReadNumber) -> Bool {
        switch number {
        case .digits(let text): digits.contains(significant(text))
        case .moment(let seconds):
            texts.contains { Self.moments($0).contains(seconds) } || isSecondsSince2001("\(seconds - 978_307_200)")
        }
    }

    /// Whether the given number of seconds is among the numbers, perhaps with a fraction, or with zeros left out.
    private func isSecondsSince2001(_ seconds: String) -> Bool {
        digits.contains { $0.hasPrefix(seconds) || $0 == significant(seconds) }
    }

    /// The seconds since 1970 for the digits of a date, with its time zone in either direction.
    private static func moments(_ digits: String) -> [Int64] {
        // An hour may have one digit.
        var candidates = [digits]
        if digits.count > 8 { candidates.append(digits.prefix(8) + "0" + digits.dropFirst(8)) }
        return candidates.flatMap { digits -> [Int64] in
            func number(_ place: Int, _ count: Int) -> Int { Int(digits.dropFirst(place).prefix(count)) ?? 0 }
            guard digits.count >= 14,
                let day = CalendarDay(year: number(0, 4), month: number(4, 2), day: number(6, 2))
            else { return [] }
            let clock = number(8, 2) * 3_600 + number(10, 2) * 60 + number(12, 2)
            let local = (day.number - MomentText.daysBefore1970) * 86_400 + clock
            let zone = digits.count >= 18 ? digits.suffix(4) : "0000"
            let offset = (Int(zone.prefix(2)) ?? 0) * 3_600 + (Int(zone.suffix(2)) ?? 0) * 60
            return [local, local - offset, local + offset].map { Int64($0) }
        }
    }
}

/// A number that was read.
enum ReadNumber {
    /// The digits, without a decimal point.
    case digits(String)
    /// Whole seconds since 1970.
    case moment(Int64)
}

/// All numbers in a report, wherever they are.
struct ReadNumbers {
    private(set) var all: [ReadNumber] = []

    init(_ report: MetricKitReport) {
        switch report {
        case .metrics(let payload): visit(Mirror(reflecting: payload))
        case .diagnostics(let payload): visit(Mirror(reflecting: payload))
        case .unreadable: break
        }
    }

    private mutating func visit(_ mirror: Mirror) {
        for child in mirror.children {
            switch child.value {
            case let time as Duration: all.append(.digits("\(time.attoseconds)"))
            case let number as Double: all.append(.digits(Self.digits(of: number)))
            case let frame as CallStackTree.Frame:
                // The position of a frame in its tree is not a number of the payload.
                for number in [frame.address, frame.offset].compactMap({ $0 }) { all.append(.digits("\(number)")) }
                if let count = frame.sampleCount { all.append(.digits("\(count)")) }
            case let histogram as Histogram<Duration>: visit(Mirror(reflecting: histogram.buckets))
            case let histogram as Histogram<Double>: visit(Mirror(reflecting: histogram.buckets))
            case let number as Int: all.append(.digits("\(number.magnitude)"))
            case let moment as PayloadMoment: all.append(.moment(moment.instant(secondsFromGMT: 0).count(in: .seconds)))
            case is Data, is RawJSON, is [Leftover], is String: break
            default: visit(Mirror(reflecting: child.value))
            }
        }
    }

    /// The digits of a double that was an integer of a base unit, or has few decimals.
    static func digits(of number: Double) -> String {
        let text = "\(abs(number))".lowercased().split(separator: "e", omittingEmptySubsequences: false)[0]
        return text.filter(\.isNumber)
    }
}
