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
