/// A table of names and values.
struct ReportTable {
    private var rows: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ time: Duration?) {
        if let time { rows.append((name, ReadableNumber.text(time))) }
    }

    mutating func add(_ name: String, bytes: Double?, _ files: Int? = nil) {
        var value = bytes.map { ReadableNumber.text(bytes: $0) }
        if let files {
            let count = ReadableNumber.text(count: files, "file", "files")
            value = value.map { "\($0) in \(count)" } ?? count
        }
        if let value { rows.append((name, value)) }
    }

    mutating func add(_ name: String, _ number: Double?, _ unit: String) {
        guard let number else { return }
        rows.append((name, ReadableNumber.text(number) + (unit.isEmpty ? "" : " " + unit)))
    }

    mutating func add(_ name: String, text: String?) {
        if let text { rows.append((name, text)) }
    }

    var lines: [String] {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { "  " + $0.name + String(repeating: " ", count: width - $0.name.count + 2) + $0.value }
    }
}
