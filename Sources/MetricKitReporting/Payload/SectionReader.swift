import LineProtocol

/// Reads the members of an object, and tracks which were read; all others become leftovers.
struct SectionReader {
    let context: PayloadContext
    private let node: JSONNode?
    private let path: String
    private var taken: Set<String> = []

    /// Creates a reader; a reader without an object finds nothing.
    init(_ node: JSONNode?, path: String, _ context: PayloadContext) {
        self.node = node
        self.path = path
        self.context = context
    }

    private func fullPath(_ key: String) -> String { path.isEmpty ? key : path + "." + key }

    /// Converts the value of the first of these keys that exists; a value that cannot be converted becomes a leftover.
    mutating func take<Value>(_ keys: [String], _ convert: (JSONNode, _ path: String) -> Value?) -> Value? {
        var value: Value?
        for key in keys {
            taken.insert(key)
            guard let found = node?[key] else { continue }
            // Null counts as a missing value.
            if found.kind == .null { continue }
            guard value == nil else {
                context.leave(found, at: fullPath(key), .unknown)
                continue
            }
            value = convert(found, fullPath(key))
            if value == nil { context.leave(found, at: fullPath(key), .notUnderstood) }
        }
        return value
    }

    mutating func text(_ keys: String...) -> String? { take(keys) { node, _ in node.text } }

    mutating func time(_ keys: String...) -> Duration? {
        take(keys) { [context] node, _ in context.time(node) }
    }

    mutating func number(_ quantity: MeasureUnit.Quantity, _ keys: String...) -> Double? {
        take(keys) { [context] node, _ in context.amount(node, quantity)?.double }
    }

    /// Reads a count without a unit, which early systems write as text.
    mutating func count(_ keys: String...) -> Int? {
        take(keys) { node, _ in Self.count(node) }
    }

    static func count(_ node: JSONNode) -> Int? {
        if let number = node.number { return number.int.flatMap { $0 < 0 ? nil : $0 } }
        guard let text = node.text, text.utf8.count <= QuantityText.longest,
            let (number, rest) = LocalizedNumber.take(from: text[...].unicodeScalars),
            rest.isEmpty, number.unmarkedLength != nil
        else { return nil }
        return number.readings().first?.number.int.flatMap { $0 < 0 ? nil : $0 }
    }

    mutating func integer(_ keys: String...) -> Int? {
        take(keys) { node, _ in node.number?.int ?? Self.count(node) }
    }

    mutating func bool(_ keys: String...) -> Bool? {
        take(keys) { node, _ in Self.bool(node) }
    }

    static func bool(_ node: JSONNode) -> Bool? {
        if let bool = node.bool { return bool }
        switch node.text?.lowercased() ?? node.number?.int.map(String.init) {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default: return nil
        }
    }

    mutating func moment(_ keys: String...) -> PayloadMoment? {
        take(keys) { node, _ in
            node.text.flatMap(MomentText.moment) ?? node.number.flatMap(MomentText.moment(secondsSince2001:))
        }
    }

    mutating func histogram(_ keys: String...) -> Histogram<Duration>? {
        take(keys) { [context] node, _ in context.histogram(node) }
    }

    mutating func bars(_ keys: String...) -> Histogram<Double>? {
        take(keys) { [context] node, _ in context.bars(node) }
    }

    mutating func section<Section>(_ keys: String..., read: (inout SectionReader) -> Section) -> Section? {
        take(keys) { [context] node, path in
            guard node.kind == .object else { return nil }
            var reader = SectionReader(node, path: path, context)
            defer { reader.leaveRest() }
            return read(&reader)
        }
    }

    /// Adds all members that were not read to the leftovers; `isRead` returns true for members that were read without this reader.
    func leaveRest(unless isRead: (_ name: String, JSONNode) -> Bool = { _, _ in false }) {
        guard let node else { return }
        for (key, value) in node.members {
            guard let name = key.text, !taken.contains(name), !isRead(name, value) else { continue }
            context.leave(value, at: fullPath(name), .unknown)
        }
    }
}

final class PayloadContext {
    private var style = NumberStyle()
    private var evidence = UnitEvidence()
    private(set) var leftovers: [Leftover] = []

    init() {}

    /// Infers the number format and the unit names of a payload, or of an independent part of it.
    init(_ whole: JSONNode) {
        let entries = whole.document.entries
        let end = Int(entries[whole.index].next)
        var index = whole.index
        while index < end {
            let node = JSONNode(document: whole.document, index: index)
            index += 1
            guard node.kind == .string else { continue }
            // Call stacks have thousands of names, but no numbers with units; names of signposts are the app's, and may look like some.
            let isName = node.isText("signpostName") || node.isText("signpostCategory")
            if isName || node.isText("callStackTree"), index < end {
                index = Int(entries[index].next)
            } else if let text = node.text, let quantity = QuantityText(text) {
                style.learn(from: quantity.number, quantity.entry)
                evidence.learn(from: quantity.name, quantity.entry)
            }
        }
    }

    func leave(_ node: JSONNode, at path: String, _ reason: Leftover.Reason) {
        // One leftover beyond the limit shows that there are too many.
        guard leftovers.count <= JSONLimits.kept else { return }
        leftovers.append(Leftover(path: path, reason: reason, json: RawJSON(node.bytes)))
    }

    /// Reads the amount of a quantity, in the unit of the model, from a string such as `1,000 ms` or an object with `value` and `unit`.
    func amount(_ node: JSONNode, _ quantity: MeasureUnit.Quantity) -> DecimalNumber? {
        if let text = node.text {
            guard let found = QuantityText(text), let unit = evidence.unit(found.name, found.entry, quantity),
                let number = style.number(found.number, unit), number.digits >= 0
            else { return nil }
            return unit.amount(number)
        }
        guard let number = node["value"]?.number, let name = node["unit"] else { return nil }
        guard let word = name.text ?? name["symbol"]?.text, let entry = UnitTable.all.entries[word],
            let unit = evidence.unit(word, entry, quantity), number.digits >= 0
        else { return nil }
        return unit.amount(number)
    }

    func time(_ node: JSONNode) -> Duration? {
        guard let attoseconds = amount(node, .time)?.scaled(by: 18)?.nearestInteger, attoseconds <= Self.longest else {
            return nil
        }
        return Duration(attoseconds: attoseconds)
    }

    func histogram(_ node: JSONNode) -> Histogram<Duration>? { HistogramReading(node)?.histogram { time($0) } }

    func bars(_ node: JSONNode) -> Histogram<Double>? {
        HistogramReading(node)?.histogram { amount($0, .bars)?.double }
    }

    /// Three hundred years in attoseconds: longer than any app runs, and small enough to be added up.
    private static let longest: Int128 = 10_000_000_000 * 1_000_000_000_000_000_000
}

/// The buckets of a histogram in a payload, in either of the two formats that systems write.
///
/// If a bucket cannot be parsed, the whole histogram is rejected: a mean over the other buckets would be wrong.
private struct HistogramReading {
    private let buckets: [JSONNode]
    private let keys: (start: String, end: String, count: String)

    /// Finds the buckets; nil if the value has none.
    init?(_ node: JSONNode) {
        let inner = node["histogram"] ?? node
        if let array = inner["buckets"], array.kind == .array {
            buckets = Array(array.elements)
            keys = ("lowerBound", "upperBound", "count")
        } else if let table = inner["histogramValue"], table.kind == .object {
            // The keys are numbers in no particular order; the bounds determine the order.
            buckets = table.members.map(\.value)
            keys = ("bucketStart", "bucketEnd", "bucketCount")
        } else if inner["histogramNumBuckets"]?.number?.int == 0 {
            buckets = []
            keys = ("", "", "")
        } else {
            return nil
        }
    }

    /// Reads all buckets; nil if one of them cannot be parsed.
    func histogram<Bound: HistogramBound>(_ read: (JSONNode) -> Bound?) -> Histogram<Bound>? {
        var all: [Histogram<Bound>.Bucket] = []
        for node in buckets {
            guard let start = node[keys.start].flatMap(read), let end = node[keys.end].flatMap(read), start <= end,
                let count = node[keys.count].flatMap(SectionReader.count), Int64(count) <= Self.largestCount
            else { return nil }
            all.append(Histogram.Bucket(start: start, end: end, count: count))
        }
        return Histogram(all)
    }

    /// More events than a day can have.
    private static var largestCount: Int64 { 1 << 40 }
}
