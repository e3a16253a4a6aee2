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

    /// Makes a number from a JSON literal, which may begin with zeros; nil if it is out of range.
    init?(literal: some Sequence<UInt8>) {
        var number = DecimalNumber(0)
        var (isNegative, isFraction) = (false, false)
        var (power, powerSign) = (0, Int?.none)
        for byte in literal {
            switch byte {
            case JSONText.minus where powerSign != nil: powerSign = -1
            case JSONText.minus: isNegative = true
            case JSONText.plus: break
            case JSONText.point: isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): powerSign = 1
            default:
                let digit = Int(byte) - Int(JSONText.zero)
                if powerSign != nil {
                    power = min(power * 10 + digit, 10 * Self.furthest)
                } else if number.digits < Int128.max / 10 - 1 {
                    // Ten times this, and nine more, still fit.
                    number.digits = number.digits * 10 + Int128(digit)
                    if isFraction { number.exponent -= 1 }
                } else if !isFraction {
                    // Of a fraction, digits behind the 38th are dropped; no measurement is so precise.
                    return nil
                }
            }
        }
        if isNegative { number.digits.negate() }
        guard let scaled = number.scaled(by: power * (powerSign ?? 1)) else { return nil }
        self = scaled
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
    var double: Double { Double("\(digits)e\(exponent)") ?? Double(digits) }
}
