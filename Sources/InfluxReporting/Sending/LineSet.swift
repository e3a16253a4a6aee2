/// Some of the lines of a batch, by their numbers from 0: ranges in rising order that do not touch.
package struct LineSet: Sendable, Hashable {
    /// The ranges, none of them empty.
    package private(set) var ranges: [Range<Int>] = []

    /// None.
    package init() {}

    /// The lines of a range.
    package init(_ range: Range<Int>) {
        if !range.isEmpty { ranges = [range] }
    }

    /// Lines by their numbers, in any order.
    package init(_ lines: some Sequence<Int>) {
        for line in lines.sorted() { append(line..<(line + 1)) }
    }

    /// How many lines there are.
    package var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// Whether there are none.
    package var isEmpty: Bool { ranges.isEmpty }

    /// The numbers of the lines, rising.
    package var lines: some Sequence<Int> { ranges.lazy.flatMap(\.self) }

    /// Whether a line is one of these.
    package func contains(_ line: Int) -> Bool { ranges.contains { $0.contains(line) } }

    /// The first of the lines.
    package var first: Int? { ranges.first?.lowerBound }

    /// Adds a range that does not begin before the last one.
    private mutating func append(_ range: Range<Int>) {
        if range.isEmpty { return }
        guard let last = ranges.last, range.lowerBound <= last.upperBound else { return ranges.append(range) }
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }

    /// The lines of both.
    package func union(_ other: LineSet) -> LineSet {
        var all = LineSet()
        for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) { all.append(range) }
        return all
    }

    /// The lines that are not in the other.
    package func subtracting(_ other: LineSet) -> LineSet {
        var rest = LineSet()
        var removed = other.ranges[...]
        for range in ranges {
            var start = range.lowerBound
            while let gap = removed.first, gap.lowerBound < range.upperBound {
                if gap.lowerBound > start { rest.append(start..<gap.lowerBound) }
                start = max(start, gap.upperBound)
                if gap.upperBound > range.upperBound { break }
                removed.removeFirst()
            }
            if start < range.upperBound { rest.append(start..<range.upperBound) }
        }
        return rest
    }

    /// The lines that are in both.
    package func intersection(_ other: LineSet) -> LineSet { subtracting(subtracting(other)) }

    /// The same lines, each with a number that is so much larger.
    package func moved(by count: Int) -> LineSet {
        var moved = LineSet()
        for range in ranges { moved.append(range.lowerBound + count..<range.upperBound + count) }
        return moved
    }

    /// The places that some lines have among these, counted from 0.
    package func places(of lines: LineSet) -> LineSet {
        let wanted = Set(intersection(lines).lines)
        return LineSet(self.lines.enumerated().filter { wanted.contains($0.element) }.map(\.offset))
    }

    /// The first `count` lines and the others.
    package func split(after count: Int) -> (LineSet, LineSet) {
        var (first, second) = (LineSet(), LineSet())
        var left = max(0, count)
        for range in ranges {
            let middle = range.lowerBound + min(left, range.count)
            first.append(range.lowerBound..<middle)
            second.append(middle..<range.upperBound)
            left -= middle - range.lowerBound
        }
        return (first, second)
    }

    /// The number in the batch of the line that is the `index`-th of these, counted from 0; nil if there is none.
    package func line(at index: Int) -> Int? {
        guard index >= 0 else { return nil }
        var left = index
        for range in ranges {
            if left < range.count { return range.lowerBound + left }
            left -= range.count
        }
        return nil
    }
}
