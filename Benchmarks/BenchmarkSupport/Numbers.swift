/// Formats numbers for people.
enum Numbers {
    /// With a number of decimals, and commas between thousands: `12,345.6`.
    static func fixed(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (abs(value) * scale).rounded()
        guard scaled < Double(Int.max) else { return "\(value)" }
        let digits = String(Int(scaled))
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        let sign = value < 0 && scaled > 0 ? "-" : ""
        let whole = sign + grouped(padded.dropLast(places))
        return places == 0 ? whole : whole + "." + padded.suffix(places)
    }

    /// With about three significant digits: `6.62`, `410.3`, `3,412`.
    static func measured(_ value: Double) -> String {
        switch abs(value) {
        case ..<9.995: fixed(value, places: 2)
        case ..<999.95: fixed(value, places: 1)
        default: fixed(value, places: 0)
        }
    }

    /// A time in a suitable unit: `6.62 ns`, `3,412 ns`, `22.4 µs`.
    static func time(_ nanoseconds: Double, _ format: (Double) -> String = measured) -> String {
        switch abs(nanoseconds) {
        case ..<1e4: format(nanoseconds) + " ns"
        case ..<1e6: format(nanoseconds / 1e3) + " µs"
        case ..<1e9: format(nanoseconds / 1e6) + " ms"
        default: format(nanoseconds / 1e9) + " s"
        }
    }

    /// Bytes in a suitable unit: `640 KiB`, `3.91 GiB`.
    static func bytes(_ count: Double) -> String {
        switch abs(count) {
        case ..<1_024: short(count) + " B"
        case ..<1_048_576: measured(count / 1_024) + " KiB"
        case ..<1_073_741_824: measured(count / 1_048_576) + " MiB"
        default: measured(count / 1_073_741_824) + " GiB"
        }
    }

    /// With up to three decimals, and no trailing zeros: `2`, `0.125`.
    static func short(_ value: Double) -> String {
        let text = fixed(value, places: 3)
        let end = text.lastIndex { $0 != "0" } ?? text.startIndex
        return String(text[end] == "." ? text[..<end] : text[...end])
    }

    /// Like `short`, but with a suffix for millions, for the ticks of an axis: `10M`.
    static func tick(_ value: Double) -> String {
        abs(value) < 1e6 ? short(value) : short(value / 1e6) + "M"
    }

    /// As a percentage with one decimal: `4.2%`.
    static func percent(_ share: Double) -> String {
        fixed(share * 100, places: 1) + "%"
    }

    /// A comparison of our time with theirs, from ours divided by theirs: `12.5× faster`.
    ///
    /// The difference of two costs can be zero, or slightly negative by chance; such a ratio has no multiple.
    static func advantage(_ ratio: Double) -> String {
        guard ratio > 0 else { return "free" }
        let factor = measured(ratio < 1 ? 1 / ratio : ratio)
        if factor == "1.00" { return "level" }
        return factor + (ratio < 1 ? "× faster" : "× slower")
    }

    private static func grouped(_ digits: Substring) -> String {
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return result
    }
}
