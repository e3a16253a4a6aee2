import LineProtocol
import LoaderChainPlatformFoundation

/// A sequence of complete lines whose timestamps have the same unit, with the positions of their ends, which are not searched for, as a
/// string in a line may contain a newline.
package struct LineBatch: Sendable, Hashable {
    /// The lines, each with its newline; the first byte has the index 0.
    package let bytes: Data
    /// The index after the newline of each line.
    package let ends: [Int]
    package let precision: Precision

    /// Creates a batch; nil if the ends do not ascend, if one of them does not follow a newline, or if the last is not the end of
    /// the bytes, which can happen with data from a disk.
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

    package init(precision: Precision) { self.init(checked: Data(), [], precision) }

    package var count: Int { ends.count }

    package var isEmpty: Bool { ends.isEmpty }

    /// The range of a line's bytes, newline included.
    package func range(of line: Int) -> Range<Int> { (line == 0 ? 0 : ends[line - 1])..<ends[line] }

    package func range(of lines: Range<Int>) -> Range<Int> {
        lines.isEmpty ? 0..<0 : range(of: lines.lowerBound).lowerBound..<ends[lines.upperBound - 1]
    }

    /// The bytes of a line, without its newline.
    package func bytes(of line: Int) -> Data {
        let range = range(of: line)
        return bytes[range.lowerBound..<(range.upperBound - 1)]
    }

    /// The line as text, without its newline and with invalid UTF-8 repaired.
    package func text(of line: Int) -> String { String(decoding: bytes(of: line), as: UTF8.self) }

    package func byteCount(of lines: LineSet) -> Int {
        lines.ranges.reduce(0) { $0 + range(of: $1).count }
    }

    /// Some of the lines as a separate batch, in the same order.
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
    package var description: String { "\(count) lines, \(bytes.count) bytes, in \(precision)" }
}

/// A set of lines of a batch, by their numbers from 0: ascending ranges that are neither empty nor adjacent.
package struct LineSet: Sendable, Hashable {
    package private(set) var ranges: [Range<Int>] = []

    package init() {}

    package init(_ range: Range<Int>) {
        if !range.isEmpty { ranges = [range] }
    }

    /// Creates a set of lines by their numbers, in any order.
    package init(_ lines: some Sequence<Int>) {
        for line in lines.sorted() { append(line..<(line + 1)) }
    }

    package var count: Int { ranges.reduce(0) { $0 + $1.count } }

    package var isEmpty: Bool { ranges.isEmpty }

    /// The numbers of the lines, ascending.
    package var lines: some Sequence<Int> { ranges.lazy.flatMap(\.self) }

    package func contains(_ line: Int) -> Bool { ranges.contains { $0.contains(line) } }

    package var first: Int? { ranges.first?.lowerBound }

    /// Adds a range that does not begin before the last one.
    private mutating func append(_ range: Range<Int>) {
        if range.isEmpty { return }
        guard let last = ranges.last, range.lowerBound <= last.upperBound else { return ranges.append(range) }
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }

    package func union(_ other: LineSet) -> LineSet {
        var all = LineSet()
        for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) { all.append(range) }
        return all
    }

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

    package func intersection(_ other: LineSet) -> LineSet { subtracting(subtracting(other)) }

    package func moved(by count: Int) -> LineSet {
        var moved = LineSet()
        for range in ranges { moved.append(range.lowerBound + count..<range.upperBound + count) }
        return moved
    }

    /// The indices that some lines have in this set, from 0.
    package func places(of lines: LineSet) -> LineSet {
        let wanted = Set(intersection(lines).lines)
        return LineSet(self.lines.enumerated().filter { wanted.contains($0.element) }.map(\.offset))
    }

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

    /// The number of the line at an index of the set, from 0; nil if the set is too small.
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
