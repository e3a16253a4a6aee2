/// The number format of one payload, inferred from its numbers.
///
/// A payload is written by one system with one locale, so `79,5` in one place tells what `1,234` means in another. Where
/// nothing does, such a number is not read: it could be off by a factor of a thousand.
struct NumberStyle: Sendable {
    private var groupings: Set<NumberText.Mark> = []
    private var decimals: Set<NumberText.Mark> = []
    /// Likely grouping marks: those of numbers that would otherwise be fractions ending with a zero.
    private var likelyGroupings: Set<NumberText.Mark> = []
    /// The most digits of a number without marks.
    private var longestUnmarked = 0

    /// Learns from a number.
    ///
    /// - Parameters:
    ///   - text: the number.
    ///   - entry: the meaning of its unit's name.
    mutating func learn(from text: NumberText, _ entry: UnitTable.Entry) {
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
    func number(_ text: NumberText, _ unit: UnitWord) -> DecimalNumber? {
        let all = text.readings(wholeOnly: unit.isWhole)
        if all.count < 2 { return all.first?.number }
        let possible = all.filter { agrees($0, text) }
        // A payload that contradicts itself elsewhere proves nothing.
        if possible.count == 1 { return possible[0].number }
        guard !possible.isEmpty, !isContradictory, let grouped = all.first(where: { $0.decimal == nil }) else {
            return nil
        }
        return likelyGroupings == Set([grouped.grouping].compactMap { $0 }) ? grouped.number : nil
    }

    private var isContradictory: Bool {
        decimals.count > 1 || groupings.count > 1 || !decimals.isDisjoint(with: groupings)
    }

    /// Whether a reading agrees with how the other numbers are written.
    private func agrees(_ reading: NumberText.Reading, _ text: NumberText) -> Bool {
        if let decimal = reading.decimal {
            if groupings.contains(decimal) || !decimals.isSubset(of: [decimal]) { return false }
        }
        if let grouping = reading.grouping {
            if decimals.contains(grouping) || !groupings.isSubset(of: [grouping]) { return false }
            // If a longer number has no marks, a shorter one has no grouping.
            if reading.decimal == nil, text.digitCount <= longestUnmarked { return false }
        }
        return true
    }
}
