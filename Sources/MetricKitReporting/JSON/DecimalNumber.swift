/// An exact decimal number: digits and a power of ten.
///
/// Foundation's `Decimal` is not exact. Every third number with three decimals converts to a double that is off by one unit in
/// the last place; digits after the 38th are rounded instead of rejected; an integer that exceeds 64 bits wraps around.
/// Attoseconds need more than 64 bits, and `FoundationEssentials` cannot round a `Decimal`.
struct DecimalNumber: Hashable, Sendable {
    /// The digits, with the sign.
    private(set) var digits: Int128
    /// The power of ten by which the digits are multiplied.
    private(set) var exponent: Int

    init(_ digits: Int128, exponent: Int = 0) {
        self.digits = digits
        self.exponent = exponent
    }

    /// Parses a JSON number, which may begin with zeros; nil if it is out of range.
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
                    // Another digit still fits.
                    number.digits = number.digits * 10 + Int128(digit)
                    if isFraction { number.exponent -= 1 }
                } else if !isFraction {
                    // In a fraction, digits after the 38th are dropped; no measurement is that precise.
                    return nil
                }
            }
        }
        if isNegative { number.digits.negate() }
        guard let scaled = number.scaled(by: power * (powerSign ?? 1)) else { return nil }
        self = scaled
    }

    /// The largest power of ten, far beyond any measurement.
    private static let furthest = 60

    /// The number multiplied by a power of ten; nil if the result is out of range.
    func scaled(by power: Int) -> DecimalNumber? {
        if digits == 0 { return DecimalNumber(0) }
        let (sum, overflow) = exponent.addingReportingOverflow(power)
        return !overflow && abs(sum) <= Self.furthest ? DecimalNumber(digits, exponent: sum) : nil
    }

    /// The number multiplied by an integer; nil on overflow.
    func multiplied(by factor: Int) -> DecimalNumber? {
        let (product, overflow) = digits.multipliedReportingOverflow(by: Int128(factor))
        return overflow ? nil : DecimalNumber(product, exponent: exponent)
    }

    /// The integer part, the first digit of the fraction, and whether the fraction is zero; nil if the integer part does not fit.
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

    /// The nearest integer; nil if it does not fit.
    var nearestInteger: Int128? { parts.map { abs($0.digit) >= 5 ? $0.whole + $0.digit.signum() : $0.whole } }

    var exactInteger: Int128? { parts.flatMap { $0.isWhole ? $0.whole : nil } }

    var int: Int? { exactInteger.flatMap { Int(exactly: $0) } }

    var double: Double { Double("\(digits)e\(exponent)") ?? Double(digits) }
}
