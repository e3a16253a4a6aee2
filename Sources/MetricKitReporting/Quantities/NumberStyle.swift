/// How the numbers of one payload are written, as far as they give it away themselves.
///
/// A payload is written by one system in one setting. So `79,5` in one place tells what `1,234` means in another. Where
/// nothing tells, such a number means nothing: it could be a thousand times as much as it seems.
struct NumberStyle: Sendable {
    private var groupings: Set<NumberText.Mark> = []
    private var decimals: Set<NumberText.Mark> = []
    /// What groups the digits of numbers that would be fractions ending with a zero, which nobody writes for people.
    private var likelyGroupings: Set<NumberText.Mark> = []
    /// The most digits that were seen in a row in front of no mark at all.
    private var longestUnmarked = 0

    /// Learns from a number what there is to learn.
    ///
    /// - Parameters:
    ///   - text: the number.
    ///   - entry: what the name of its unit tells.
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

    /// What a number means, or nil if it could mean two things.
    func number(_ text: NumberText, _ unit: UnitWord) -> DecimalNumber? {
        let all = text.readings(wholeOnly: unit.isWhole)
        if all.count < 2 { return all.first?.number }
        let possible = all.filter { agrees($0, text) }
        // Those that contradict themselves elsewhere tell nothing here.
        if possible.count == 1 { return possible[0].number }
        guard !possible.isEmpty, !isContradictory, let grouped = all.first(where: { $0.decimal == nil }) else {
            return nil
        }
        return likelyGroupings == Set([grouped.grouping].compactMap { $0 }) ? grouped.number : nil
    }

    private var isContradictory: Bool {
        decimals.count > 1 || groupings.count > 1 || !decimals.isDisjoint(with: groupings)
    }

    /// Whether a number can have this meaning, considering how the others are written.
    private func agrees(_ reading: NumberText.Reading, _ text: NumberText) -> Bool {
        if let decimal = reading.decimal {
            if groupings.contains(decimal) || !decimals.isSubset(of: [decimal]) { return false }
        }
        if let grouping = reading.grouping {
            if decimals.contains(grouping) || !groupings.isSubset(of: [grouping]) { return false }
            // Where a longer number has no marks, a shorter one has none either.
            if reading.decimal == nil, text.digitCount <= longestUnmarked { return false }
        }
        return true
    }
}
