import LoaderChain

// A quantile over several payloads is that of the merged histogram: quantiles themselves are never merged.
extension Histogram {
    /// Makes one histogram of several: the counts of equal buckets are added, and the other buckets stay as they are.
    ///
    /// Take quantiles and means of the result; there is no way to merge those of several histograms.
    public init(merging histograms: some Sequence<Histogram>) { self.init(histograms.flatMap(\.buckets)) }

    /// The quantile 0.5; nil if there are no values.
    public var median: Bound? { quantile(0.5) }

    /// The value that a share of the values does not exceed; nil if there are none.
    ///
    /// The values of a bucket are taken to lie evenly between its bounds. Where buckets of several systems overlap, each has
    /// its part in what lies between.
    ///
    /// - Parameter share: from 0 to 1, such as 0.9; nil is the answer to anything else, NaN too.
    public func quantile(_ share: Double) -> Bound? {
        guard let wanted = QuantileRank(of: share, among: count)?.position else { return nil }
        var passed = 0.0
        for group in overlapping {
            let count = group.reduce(0) { $0 + Double($1.count) }
            // A value on a border belongs to the lower group.
            if passed + count >= wanted || group.endIndex == buckets.endIndex {
                return Self.bound(Self.value(at: wanted - passed, in: group))
            }
            passed += count
        }
        return nil
    }

    /// The buckets, grouped where they overlap.
    private var overlapping: [ArraySlice<Bucket>] {
        var groups: [ArraySlice<Bucket>] = []
        var start = buckets.startIndex
        var end = buckets[start].end
        for (index, bucket) in buckets.enumerated().dropFirst() {
            if bucket.start >= end {
                groups.append(buckets[start..<index])
                start = index
            }
            end = max(end, bucket.end)
        }
        groups.append(buckets[start...])
        return groups
    }

    /// The value that `wanted` values of overlapping buckets lie below.
    private static func value(at wanted: Double, in group: ArraySlice<Bucket>) -> Double {
        // Where the density of values changes, and how many values lie exactly there.
        var changes: [(place: Double, density: Double, atOnce: Double)] = []
        for bucket in group {
            let (start, end) = (bucket.start.histogramNumber, bucket.end.histogramNumber)
            let width = end - start
            if width > 0 {
                let density = Double(bucket.count) / width
                changes.append((start, density, 0))
                changes.append((end, -density, 0))
            } else {
                changes.append((start, 0, Double(bucket.count)))
            }
        }
        changes.sort { $0.place < $1.place }
        var place = changes[0].place
        var (passed, density) = (0.0, 0.0)
        for change in changes {
            let next = passed + density * (change.place - place)
            if next >= wanted, density > 0 { return min(place + (wanted - passed) / density, change.place) }
            passed = next + change.atOnce
            place = change.place
            if passed >= wanted { return place }
            density += change.density
        }
        return place
    }
}
