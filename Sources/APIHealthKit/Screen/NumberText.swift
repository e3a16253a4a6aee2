/// Writes numbers for people.
enum NumberText {
    /// The value with a fixed number of decimals.
    static func text(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (abs(value) * scale).rounded()
        guard scaled < 1e15 else { return "\(value)" }
        let (whole, part) = Int64(scaled).quotientAndRemainder(dividingBy: Int64(scale))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let digitsText = String(part)
        return "\(sign)\(whole)." + String(repeating: "0", count: digits - digitsText.count) + digitsText
    }

    /// The count with commas between the thousands.
    static func count(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// The count with its noun in the singular or plural.
    static func count(_ value: Int, _ noun: String) -> String { "\(count(value)) \(noun)\(value == 1 ? "" : "s")" }

    /// A share as a percentage, which is rounded to neither 0 nor 100 unless it is exactly that.
    static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "–" }
        if part >= whole { return "100 %" }
        if part <= 0 { return "0 %" }
        let ratio = Double(part) / Double(whole) * 100
        let rounded = min(max(ratio, 0.1), 99.9)
        return rounded >= 99 || rounded < 1 ? "\(text(rounded, digits: 1)) %" : "\(Int(min(rounded.rounded(), 99))) %"
    }
}
