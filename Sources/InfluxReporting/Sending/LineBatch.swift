import LineProtocol
import LoaderChainPlatformFoundation

/// Whole lines behind each other, and where each of them ends.
///
/// A string in a line may hold a newline, so the ends are kept and never looked for. The times of all lines are counted in
/// one unit.
package struct LineBatch: Sendable, Hashable {
    /// The lines, each with its newline; the first byte has the index 0.
    package let bytes: Data
    /// For each line, the index behind its newline.
    package let ends: [Int]
    /// The unit of the times.
    package let precision: Precision

    /// Takes lines, provided that the ends rise, that each stands behind a newline and that the last one is the end of the
    /// bytes; nil if not, as it may be with what comes from a disk.
    package init?(bytes: Data, ends: [Int], precision: Precision) {
        guard (ends.last ?? 0) == bytes.count else { return nil }
        let bytes = bytes.startIndex == 0 ? bytes : Data(bytes)
        var start = 0
        for end in ends {
            guard end > start, end <= bytes.count, bytes[end - 1] == UInt8(ascii: "\n") else { return nil }
            start = end
        }
        self.bytes = bytes
        self.ends = ends
        self.precision = precision
    }

    private init(checked bytes: Data, _ ends: [Int], _ precision: Precision) {
        self.bytes = bytes
        self.ends = ends
        self.precision = precision
    }

    /// No lines.
    package init(precision: Precision) { self.init(checked: Data(), [], precision) }

    /// How many lines there are.
    package var count: Int { ends.count }

    /// Whether there are none.
    package var isEmpty: Bool { ends.isEmpty }

    /// Where the bytes of a line are, its newline included.
    package func range(of line: Int) -> Range<Int> { (line == 0 ? 0 : ends[line - 1])..<ends[line] }

    /// Where the bytes of neighbouring lines are.
    package func range(of lines: Range<Int>) -> Range<Int> {
        lines.isEmpty ? 0..<0 : range(of: lines.lowerBound).lowerBound..<ends[lines.upperBound - 1]
    }

    /// The bytes of a line, without its newline.
    package func bytes(of line: Int) -> Data {
        let range = range(of: line)
        return bytes[range.lowerBound..<(range.upperBound - 1)]
    }

    /// The line as text, without its newline and with damage repaired.
    package func text(of line: Int) -> String { String(decoding: bytes(of: line), as: UTF8.self) }

    /// How many bytes some of the lines have.
    package func byteCount(of lines: LineSet) -> Int {
        lines.ranges.reduce(0) { $0 + range(of: $1).count }
    }

    /// Some of the lines as a batch of their own, in the same order.
    package func batch(of lines: LineSet) -> LineBatch {
        if lines.count == count { return self }
        var chosen = Data(capacity: byteCount(of: lines))
        var chosenEnds: [Int] = []
        chosenEnds.reserveCapacity(lines.count)
        for range in lines.ranges {
            let bytesOfRange = self.range(of: range)
            let shift = chosen.count - bytesOfRange.lowerBound
            chosen.append(bytes[bytesOfRange])
            for line in range { chosenEnds.append(ends[line] + shift) }
        }
        return LineBatch(checked: chosen, chosenEnds, precision)
    }
}

extension LineBatch: CustomStringConvertible {
    /// How much it holds.
    package var description: String { "\(count) lines, \(bytes.count) bytes, in \(precision)" }
}

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
