// Reading: reading the sections of a payload. Depends on JSON, Quantities and Histogram; Payload and later folders
// may use it.

/// The buckets of a histogram in a payload, in either of the two forms that systems write.
///
/// A histogram with a bucket that is not understood is not read at all: a mean over the other buckets would be
/// wrong.
struct HistogramReading {
    private let buckets: [JSONNode]
    private let keys: (start: String, end: String, count: String)

    /// Finds the buckets; nil if there are none.
    init?(_ node: JSONNode) {
        let inner = node["histogram"] ?? node
        if let array = inner["buckets"], array.kind == .array {
            buckets = Array(array.elements)
            keys = ("lowerBound", "upperBound", "count")
        } else if let table = inner["histogramValue"], table.kind == .object {
            // The keys are numbers in no order; the bounds determine the order.
            buckets = table.members.map(\.value)
            keys = ("bucketStart", "bucketEnd", "bucketCount")
        } else if inner["histogramNumBuckets"]?.number?.int == 0 {
            buckets = []
            keys = ("", "", "")
        } else {
            return nil
        }
    }

    /// Reads all buckets; nil if one of them is not understood.
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
