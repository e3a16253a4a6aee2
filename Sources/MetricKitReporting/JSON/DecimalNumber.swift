/// An exact decimal number: digits and a power of ten.
///
/// Foundation's `Decimal` loses something. Of numbers with three digits behind the point, every third becomes a double that is
/// off by one unit in its last place; the digits behind the 38th are rounded away instead of refused; a whole number beyond
/// 64 bits wraps around. Attoseconds need more than 64 bits, and `FoundationEssentials` rounds no `Decimal`.
struct DecimalNumber: Hashable, Sendable {
    /// The digits, with the sign.
    private(set) var digits: Int128
    /// The power of ten that they are multiplied by.
    private(set) var exponent: Int

    init(_ digits: Int128, exponent: Int = 0) {
        self.digits = digits
        self.exponent = exponent
    }

    /// Makes a number from a valid JSON literal; nil if it is out of range.
    init?(literal: some Sequence<UInt8>) {
        var builder = Builder()
        var power = 0
        var powerSign: Int?
        for byte in literal {
            switch byte {
            case JSONText.minus where powerSign != nil: powerSign = -1
            case JSONText.minus: builder.isNegative = true
            case JSONText.plus: break
            case JSONText.point: builder.isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): powerSign = 1
            default:
                let digit = Int(byte) - Int(JSONText.zero)
                if powerSign == nil { builder.add(digit) } else { power = min(power * 10 + digit, 10 * Self.furthest) }
            }
        }
        guard let number = builder.number?.scaled(by: power * (powerSign ?? 1)) else { return nil }
        self = number
    }

    /// Makes a number from the digits of its whole part and its fraction; nil if there are too many.
    init?(whole: some Sequence<Int>, fraction: some Sequence<Int>, isNegative: Bool) {
        var builder = Builder()
        builder.isNegative = isNegative
        for digit in whole { builder.add(digit) }
        builder.isFraction = true
        for digit in fraction { builder.add(digit) }
        guard let number = builder.number else { return nil }
        self = number
    }

    /// The largest power of ten; no measurement comes near it.
    private static let furthest = 60

    /// The number times a power of ten; nil if that is out of range.
    func scaled(by power: Int) -> DecimalNumber? {
        if digits == 0 { return DecimalNumber(0) }
        let (sum, overflow) = exponent.addingReportingOverflow(power)
        return !overflow && abs(sum) <= Self.furthest ? DecimalNumber(digits, exponent: sum) : nil
    }

    /// The number times a whole one.
    func multiplied(by factor: Int) -> DecimalNumber? {
        let (product, overflow) = digits.multipliedReportingOverflow(by: Int128(factor))
        return overflow ? nil : DecimalNumber(product, exponent: exponent)
    }

    /// The number without its fraction, the first digit of the fraction, and whether there was none; nil if it does not fit.
    private var parts: (whole: Int128, digit: Int128, isWhole: Bool)? {
        var parts = (whole: digits, digit: Int128(0), isWhole: true)
        for _ in 0..<max(0, exponent) {
            let (product, overflow) = parts.whole.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            parts.whole = product
        }
        for _ in 0..<max(0, -exponent) {
            (parts.whole, parts.digit) = parts.whole.quotientAndRemainder(dividingBy: 10)
            parts.isWhole = parts.isWhole && parts.digit == 0
        }
        return parts
    }

    /// The nearest whole number; nil if it does not fit.
    var nearestInteger: Int128? { parts.map { abs($0.digit) >= 5 ? $0.whole + $0.digit.signum() : $0.whole } }

    /// The number, if it is a whole one.
    var exactInteger: Int128? { parts.flatMap { $0.isWhole ? $0.whole : nil } }

    /// The number, if it is a whole one that fits.
    var int: Int? { exactInteger.flatMap { Int(exactly: $0) } }

    /// The nearest double.
    var double: Double {
        // Both operands are exact, so the result is rounded only once.
        if abs(digits) <= 1 << 53, abs(exponent) < Self.powers.count {
            let power = Self.powers[abs(exponent)]
            return exponent < 0 ? Double(digits) / power : Double(digits) * power
        }
        return Double("\(digits)e\(exponent)") ?? Double(digits)
    }

    /// The powers of ten that a double holds exactly.
    private static let powers: [Double] = (0...22).map { count in (0..<count).reduce(1) { power, _ in power * 10 } }

    /// Builds a number digit by digit.
    private struct Builder {
        private var digits: Int128 = 0
        private var exponent = 0
        private var isTooLong = false
        var isNegative = false
        var isFraction = false

        mutating func add(_ digit: Int) {
            // Ten times this, and nine more, still fit.
            if digits < Int128.max / 10 - 1 {
                digits = digits * 10 + Int128(digit)
                if isFraction { exponent -= 1 }
            } else if !isFraction {
                isTooLong = true
            }
            // Digits of a fraction behind the 38th are dropped; no measurement is so precise.
        }

        var number: DecimalNumber? {
            isTooLong ? nil : DecimalNumber(isNegative ? -digits : digits).scaled(by: exponent)
        }
    }
}
