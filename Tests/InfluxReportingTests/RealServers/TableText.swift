import Foundation

/// Comma-separated values as InfluxDB writes them.
enum TableText {
    /// The rows of a text, each of its cells without quotes.
    static func rows(of bytes: Data) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var cell: [UInt8] = []
        var isQuoted = false
        var mayEndQuote = false
        func endCell() {
            row.append(String(decoding: cell, as: UTF8.self))
            cell.removeAll(keepingCapacity: true)
        }
        bytes.withUnsafeBytes { bytes in
            for byte in bytes {
                if mayEndQuote {
                    mayEndQuote = false
                    // A doubled quote stands for one quote; any other byte follows the end.
                    if byte == UInt8(ascii: "\"") {
                        cell.append(byte)
                        continue
                    }
                    isQuoted = false
                }
                switch byte {
                case UInt8(ascii: "\"") where isQuoted: mayEndQuote = true
                case UInt8(ascii: "\"") where cell.isEmpty: isQuoted = true
                case UInt8(ascii: ",") where !isQuoted: endCell()
                case UInt8(ascii: "\n") where !isQuoted:
                    endCell()
                    rows.append(row)
                    row.removeAll(keepingCapacity: true)
                default: cell.append(byte)
                }
            }
        }
        if !cell.isEmpty || !row.isEmpty {
            endCell()
            rows.append(row)
        }
        return rows
    }
}
