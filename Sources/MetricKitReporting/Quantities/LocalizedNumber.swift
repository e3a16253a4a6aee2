/// A number as a system writes it in some language: runs of digits with separators between them.
///
/// The separators are ambiguous, since half of the world writes a thousand and a half as `1,000.5` and the other
/// half as `1.000,5`; ``readings(wholeOnly:)`` returns all plausible readings.
struct LocalizedNumber: Hashable, Sendable {
    /// A separator between digits.
    enum Mark: Hashable, Sendable {
        case comma, point, space, apostrophe
        /// The Arabic separators, which have one meaning each.
        case arabicDecimal, arabicThousands
        /// The commas of right-to-left scripts, which separate thousands in N’Ko and Adlam.
        case reversedComma

        init?(_ scalar: Unicode.Scalar) {
            switch scalar {
            case ",", "\u{FF0C}": self = .comma
            case ".", "\u{FF0E}": self = .point
            case " ", "\u{A0}", "\u{2009}", "\u{202F}", "\u{2007}": self = .space
            case "'", "\u{2019}": self = .apostrophe
            case "\u{066B}": self = .arabicDecimal
            case "\u{066C}": self = .arabicThousands
            case "\u{060C}", "\u{2E41}": self = .reversedComma
            default: return nil
            }
        }

        var canBeginFraction: Bool { self == .comma || self == .point || self == .arabicDecimal }
    }

    struct Reading: Hashable, Sendable {
        /// The thousands separator; nil for none.
        var grouping: Mark?
        /// The decimal separator; nil for none.
        var decimal: Mark?
        var number: DecimalNumber
    }

    private var isNegative = false
    /// The digits in ASCII, whatever their script.
    private var runs: [[UInt8]] = []
    private var marks: [Mark] = []

    fileprivate var digitCount: Int { runs.reduce(0) { $0 + $1.count } }

    /// The number of digits of a number without separators; nil with separators.
    var unmarkedLength: Int? { marks.isEmpty ? runs[0].count : nil }

    /// Reads a number from the beginning of a text; nil if the text does not begin with one.
    static func take(from text: Substring.UnicodeScalarView) -> (LocalizedNumber, rest: Substring.UnicodeScalarView)? {
        var number = LocalizedNumber()
        var rest = text
        if let first = rest.first, first == "-" || first == "\u{2212}" {
            number.isNegative = true
            rest.removeFirst()
        }
        var zero: UInt32?
        var run: [UInt8] = []
        while let scalar = rest.first {
            if let digit = digit(scalar) {
                // All digits of a number belong to the same script.
                let itsZero = scalar.value - UInt32(digit)
                guard zero == nil || zero == itsZero else { return nil }
                zero = itsZero
                run.append(JSONText.zero + UInt8(digit))
                rest.removeFirst()
            } else if let mark = Mark(scalar), !run.isEmpty, let next = rest.dropFirst().first, self.digit(next) != nil
            {
                number.runs.append(run)
                number.marks.append(mark)
                run = []
                rest.removeFirst()
            } else {
                break
            }
        }
        guard !run.isEmpty else { return nil }
        number.runs.append(run)
        return (number, rest)
    }

    /// The value of a digit of any script.
    static func digit(_ scalar: Unicode.Scalar) -> Int? {
        if scalar.isASCII { return "0"..."9" ~= scalar ? Int(scalar.value - 0x30) : nil }
        guard scalar.properties.numericType == .decimal else { return nil }
        return scalar.properties.numericValue.map { Int($0) }
    }

    /// The possible readings: none, one or two; `wholeOnly` says that the unit has no fractions.
    func readings(wholeOnly: Bool = false) -> [Reading] {
        guard let last = marks.last else {
            return reading(runs[0], grouping: nil).map { [$0] } ?? []
        }
        var all: [Reading] = []
        if isGrouped(runs, marks), let reading = reading(runs.joined(), grouping: last) {
            all.append(reading)
        }
        let before = marks.dropLast()
        if last.canBeginFraction, !wholeOnly, before.first != last,
            before.isEmpty || isGrouped(Array(runs.dropLast()), Array(before))
        {
            let digits = runs.dropLast().joined() + [JSONText.point] + runs[runs.count - 1]
            if let reading = reading(digits, grouping: before.first, decimal: last) { all.append(reading) }
        }
        return all
    }

    /// Whether the last run of digits ends with a zero, as no system prints it in a fraction.
    fileprivate var endsWithZero: Bool { runs[runs.count - 1].last == JSONText.zero }

    private func reading(_ digits: some Sequence<UInt8>, grouping: Mark?, decimal: Mark? = nil) -> Reading? {
        DecimalNumber(literal: (isNegative ? [JSONText.minus] : []) + digits).map {
            Reading(grouping: grouping, decimal: decimal, number: $0)
        }
    }

    /// Whether the separators are all the same, and at the places of thousands separators.
    private func isGrouped(_ runs: [[UInt8]], _ marks: [Mark]) -> Bool {
        guard let mark = marks.first, marks.allSatisfy({ $0 == mark }), mark != .arabicDecimal else { return false }
        guard runs[0][0] != JSONText.zero, runs[0].count <= 3, runs[runs.count - 1].count == 3 else { return false }
        let middle = runs.dropFirst().dropLast()
        if middle.allSatisfy({ $0.count == 3 }) { return true }
        // In India, digits above the thousands are grouped in pairs.
        return mark == .comma && runs[0].count <= 2 && middle.allSatisfy { $0.count == 2 }
    }
}

/// The number format of one payload, inferred from its numbers.
///
/// A payload is written by one system with one locale, so `79,5` in one place determines what `1,234` means in another. Without
/// such evidence, an ambiguous number is not read: it could be off by a factor of a thousand.
struct NumberStyle: Sendable {
    private var groupings: Set<LocalizedNumber.Mark> = []
    private var decimals: Set<LocalizedNumber.Mark> = []
    /// Likely thousands separators: those of numbers that would otherwise be fractions ending with a zero.
    private var likelyGroupings: Set<LocalizedNumber.Mark> = []
    /// The maximum number of digits of a number without separators.
    private var longestUnmarked = 0

    mutating func learn(from text: LocalizedNumber, _ entry: UnitTable.Entry) {
        if let length = text.unmarkedLength { longestUnmarked = max(longestUnmarked, length) }
        if let decimal = entry.decimal { decimals.insert(decimal) }
        let readings = text.readings(wholeOnly: entry.units.allSatisfy(\.isWhole))
        guard readings.count == 1, let reading = readings.first else {
            if text.endsWithZero {
                likelyGroupings.formUnion(readings.compactMap { $0.decimal == nil ? $0.grouping : nil })
            }
            return
        }
        if let grouping = reading.grouping { groupings.insert(grouping) }
        if let decimal = reading.decimal { decimals.insert(decimal) }
    }

    /// The value of a number; nil if it is ambiguous.
    func number(_ text: LocalizedNumber, _ unit: MeasureUnit) -> DecimalNumber? {
        let all = text.readings(wholeOnly: unit.isWhole)
        if all.count < 2 { return all.first?.number }
        let possible = all.filter { agrees($0, text) }
        // A payload that contradicts itself elsewhere is not evidence.
        if possible.count == 1 { return possible[0].number }
        guard !possible.isEmpty, !isContradictory, let grouped = all.first(where: { $0.decimal == nil }) else {
            return nil
        }
        return likelyGroupings == Set([grouped.grouping].compactMap { $0 }) ? grouped.number : nil
    }

    private var isContradictory: Bool {
        decimals.count > 1 || groupings.count > 1 || !decimals.isDisjoint(with: groupings)
    }

    private func agrees(_ reading: LocalizedNumber.Reading, _ text: LocalizedNumber) -> Bool {
        if let decimal = reading.decimal {
            if groupings.contains(decimal) || !decimals.isSubset(of: [decimal]) { return false }
        }
        if let grouping = reading.grouping {
            if decimals.contains(grouping) || !groupings.isSubset(of: [grouping]) { return false }
            // If a longer number has no separators, a shorter one has no thousands separators.
            if reading.decimal == nil, text.digitCount <= longestUnmarked { return false }
        }
        return true
    }
}
