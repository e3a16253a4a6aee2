/// A measurement and tags, escaped and in order, ready to begin lines.
///
/// ```swift
/// let series = PreparedSeries("APIHealth", tags: ["status": "200", "host": "api-1"])
/// print(series)  // APIHealth,host=api-1,status=200
/// ```
public struct PreparedSeries: Sendable {
    /// One object, so that handing a series on is cheap.
    final class Storage: Sendable {
        /// The text that the lines begin with; empty if nothing can be written.
        let bytes: [UInt8]
        /// What had to be repaired, without the defaults.
        let own: Repairs
        let repairs: Repairs
        /// The first problem that was met, which the strict methods throw.
        let firstError: LineEncodingError?

        init(_ core: borrowing LineCore) {
            var own = Repairs()
            for problem in core.noted { own[problem] += 1 }
            self.own = own
            // The core has counted those of the defaults.
            var all = core.repairs
            all += own
            repairs = all
            firstError = core.firstError
            bytes = core.isLost ? [] : core.bytes.withUnsafeBytes { Array($0) }
        }
    }

    let storage: Storage

    /// What had to be repaired; every line of the series counts it again, except for that of the defaults.
    public var repairs: Repairs { storage.repairs }

    /// Prepares a measurement with tags.
    ///
    /// - Parameters:
    ///   - measurement: What is measured.
    ///   - tags: The tags of the series.
    ///   - defaults: Default tags, which `tags` with the same key override.
    public init(_ measurement: String, tags: Tags = [:], defaults: Tags = [:]) {
        var core = LineCore(capacity: 256, dialect: .portable)
        core.setDefaults(defaults)
        core.isStrict = true
        core.beginLine(measurement: measurement)
        core.write(tags)
        core.endTags()
        storage = Storage(core)
    }

    /// The tags one by one, for lines that may have some of them themselves.
    var preparedTags: [LineCore.DefaultTag] {
        var rest = storage.bytes[...]
        rest = rest[EscapedText.firstIndex(of: UInt8(ascii: ","), in: rest)...]
        var result: [LineCore.DefaultTag] = []
        // Each tag begins with its comma.
        while !rest.isEmpty {
            let end = EscapedText.firstIndex(of: UInt8(ascii: ","), in: rest.dropFirst())
            let text = Array(rest[rest.startIndex..<end])
            let keyEnd = EscapedText.firstIndex(of: UInt8(ascii: "="), in: text.dropFirst())
            let isPlain = !text[1..<keyEnd].contains(UInt8(ascii: "\\"))
            let leading = (1..<9).reduce(0 as UInt64) { $0 << 8 | UInt64($1 < keyEnd ? text[$1] : 0) }
            result.append(.init(text: text, key: .init(start: 1, end: keyEnd, isPlain: isPlain, leading: leading)))
            rest = rest[end...]
        }
        return result
    }
}

extension PreparedSeries: CustomStringConvertible {
    /// What the lines of the series begin with.
    public var description: String { String(decoding: storage.bytes, as: UTF8.self) }
}

/// Keeps the prepared series of tag sets that come again and again, up to a bound.
///
/// ```swift
/// var cache = SeriesCache(limit: 1_000, defaults: ["region": "eu"])
/// var encoder = LineEncoder()
/// for status in ["200", "404", "200"] {
///     let series = cache.series("APIHealth", tags: ["status": status])
///     encoder.append(series, timestamp: nil) { $0.set("count", 1) }
/// }
/// print(cache.hits)  // 1
/// ```
///
/// When the cache is full, a series gives way that was not asked for since the cache last looked at it.
public struct SeriesCache: Sendable {
    /// The most series that are kept.
    public let limit: Int
    /// Default tags, which a series' own tags with the same key override.
    public let defaults: Tags
    /// How often a series was there already.
    public private(set) var hits = 0
    /// How often a series had to be prepared.
    public private(set) var misses = 0

    private var places: [SeriesName: Int] = [:]
    private var entries: [Entry] = []
    /// Which entry the cache looks at next when it needs room.
    private var hand = 0

    private struct Entry {
        var name: SeriesName
        var series: PreparedSeries
        var wasUsed = false
    }

    /// Makes an empty cache; a limit below one keeps nothing.
    public init(limit: Int = 1_024, defaults: Tags = [:]) {
        self.limit = limit
        self.defaults = defaults
    }

    /// How many series are kept.
    public var count: Int { entries.count }

    /// The prepared series of a measurement and tags.
    public mutating func series(_ measurement: String, tags: Tags) -> PreparedSeries {
        let name = SeriesName(measurement: measurement, tags: tags)
        if let place = places[name] {
            hits += 1
            entries[place].wasUsed = true
            return entries[place].series
        }
        misses += 1
        let series = PreparedSeries(measurement, tags: tags, defaults: defaults)
        keep(Entry(name: name, series: series))
        return series
    }

    /// Forgets all series.
    public mutating func removeAll() {
        places.removeAll()
        entries.removeAll()
        hand = 0
    }

    private mutating func keep(_ entry: Entry) {
        guard limit > 0 else { return }
        if entries.count < limit {
            places[entry.name] = entries.count
            entries.append(entry)
            return
        }
        // Each entry is passed over once for having been used; after one round all have lost that.
        while entries[hand].wasUsed {
            entries[hand].wasUsed = false
            hand = (hand + 1) % entries.count
        }
        places[entries[hand].name] = nil
        places[entry.name] = hand
        entries[hand] = entry
        hand = (hand + 1) % entries.count
    }
}

/// A measurement and tags, compared by their bytes: names that look the same can differ to a server.
private struct SeriesName: Hashable, Sendable {
    let measurement: String
    let tags: Tags

    static func == (first: SeriesName, second: SeriesName) -> Bool {
        first.measurement.utf8.elementsEqual(second.measurement.utf8)
            && first.tags.elementsEqual(second.tags) {
                $0.key.utf8.elementsEqual($1.key.utf8) && $0.value.utf8.elementsEqual($1.value.utf8)
            }
    }

    func hash(into hasher: inout Hasher) {
        combine(measurement, into: &hasher)
        for tag in tags {
            combine(tag.key, into: &hasher)
            combine(tag.value, into: &hasher)
        }
    }

    private func combine(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: .init($0)) }
        hasher.combine(0xFF as UInt8)  // No byte of a string, so that the end of one is not the beginning of the next.
    }
}
