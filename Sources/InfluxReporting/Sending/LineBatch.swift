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
